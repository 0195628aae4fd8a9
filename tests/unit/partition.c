/* The partitioner op by op and loop by loop. A row of text is a tiny model, a mesh and a strategy; the test partitions
 * it, compares the collectives with the row, sees how much of the op's work one device really does, and executes the
 * program in both input modes against one device, every intermediate compared.
 *
 *   "r = dot_general(a, w) 'lhs_contract':[1], 'rhs_contract':[0]"   strategy "d2:[x]"   work "1/2"
 *   collectives "all_reduce sum [x]"
 *
 * Arguments arrive as their first user wants them; outputs leave as they are made, partial ones reduced.
 * SW_TEST_PRINT=1 prints what every row gives.
 */
#include "check.h"

#include <ctype.h>
#include <math.h>

#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/validate.h"
#include "support/job.h"

typedef struct row {
  const char *mesh;
  const char *args;     /* "a f32 4,6; i i32 5": name, dtype, sizes */
  const char *ops;      /* one a line or ';': "r, s = opcode(a, b) attributes"; ' stands for " */
  const char *strategy; /* "r = d0:[x]; s = d1:[y]"; without a name it is that of the last op */
  const char
      *work; /* of the last op on one device, as a part of the whole: flops, else bytes, else elements of the
                result; "out 1/2": elements of the result, "in 1/2": of the block of operand 0 that it works on */
  const char *collectives; /* separated by "; " */
} row;

#define CONTRACT "'lhs_contract':[1],'rhs_contract':[0]"
#define CONV "'lhs_layout':'b0f','rhs_layout':'0io','out_layout':'b0f'"
#define SAME_CONV CONV ",'pad_low':[1],'pad_high':[1]"
#define WINDOW "'kind':'max','window':[1,3],'pad_low':[0,1],'pad_high':[0,1]"
#define ROWS_OF "'offset_dims':[1],'collapsed_dims':[0],'start_index_map':[0],'index_vector_dim':1"
#define ROWS_TO "'update_window_dims':[1],'inserted_dims':[0],'start_index_map':[0],'index_vector_dim':1"

#define ATTENTION_ARGS "q f32 2,4,5,3; k f32 2,2,6,3; v f32 2,2,6,3"
#define GRADIENT_ARGS "q f32 2,4,5,3; k f32 2,2,6,3; v f32 2,2,6,3; o f32 2,4,5,3; l f32 2,4,5; d f32 2,4,5,3"

#define GENERIC_DOT                                                               \
  "r = generic(a, b) 'loops':[4,{'size':6,'kind':'reduction','combiner':'sum'}]," \
  "'maps':['(d0,d1)->(d0,d1)','(d0,d1)->(d0,d1)','(d0,d1)->(d0)'],'body':'x0 * x1 + x0'"

static const row kRows[] = {
    /* elementwise: nothing moves */
    {"x=2", "a f32 4,6", "r = tanh(a)", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 5,6; b f32 5,6", "r = add(a, b)", "d0:[x]", "3/5", ""},
    {"x=2,y=2", "a f32 4,6; b f32 4,6", "r = multiply(a, b)", "d0:[y] d1:[x]", "1/4", ""},
    {"x=2,y=3", "a f32 12", "r = negate(a)", "d0:[x,y]", "1/6", ""},
    {"x=2,y=3", "a f32 12", "r = negate(a)", "d0:[y,x]", "1/6", ""},
    {"x=3", "a f32 7", "r = exponential(a)", "d0:[x]", "3/7", ""},
    {"x=2,y=4", "a f32 5", "r = abs(a)", "d0:[x,y]", "1/5", ""}, /* empty shards */
    {"x=2", "a f32 4; b f32 4", "r = compare(a, b) 'direction':'lt'", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4; b f32 4; p bool 4", "r = select(p, a, b)", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4; b f32 4; p bool", "r = select(p, a, b)", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4; l f32; h f32", "r = clamp(l, a, h)", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 5", "r = convert(a) 'dtype':'i32'", "d0:[x]", "3/5", ""},
    /* shapes: nothing moves */
    {"x=2", "a f32 6", "r = broadcast_in_dim(a) 'shape':[4,6],'dims':[1]", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 6", "r = broadcast_in_dim(a) 'shape':[4,6],'dims':[1]", "d1:[x]", "1/2", ""},
    {"x=2", "a f32 1,6", "r = broadcast_in_dim(a) 'shape':[5,6],'dims':[0,1]", "d0:[x]", "3/5", ""},
    {"x=2", "a f32 4,5", "r = transpose(a) 'permutation':[1,0]", "d0:[x]", "3/5", ""},
    {"x=2,y=2", "a f32 2,4,3", "r = transpose(a) 'permutation':[2,0,1]", "d1:[x] d2:[y]", "1/4", ""},
    {"x=2", "a f32 4,6", "r = reshape(a) 'shape':[24]", "d0:[x]", "1/2", ""},
    {"x=2,y=2", "a f32 2,6", "r = reshape(a) 'shape':[12]", "d0:[x] d1:[y]", "1/4", ""},
    {"x=2", "a f32 24", "r = reshape(a) 'shape':[4,6]", "d0:[x]", "1/2", ""},
    {"x=3", "a f32 6,4", "r = reshape(a) 'shape':[3,8]", "d0:[x]", "1/3", ""},
    {"x=2", "a f32 6,4", "r = reshape(a) 'shape':[4,6]", "d0:[x]", "1/2", ""}, /* mixed radix: 2 * 3 * 2 * 2 */
    {"x=2", "a f32 4,5", "r = reshape(a) 'shape':[1,4,1,5]", "d1:[x]", "3/5", ""},
    /* moved elements */
    {"x=2", "a f32 4,3", "r = reverse(a) 'dims':[0]", "d0:[x]", "1/2", "exchange"},
    {"x=2", "a f32 4,3", "r = reverse(a) 'dims':[0]", "d1:[x]", "2/3", ""},
    {"x=3", "a f32 7", "r = reverse(a) 'dims':[0]", "d0:[x]", "3/7", "exchange"},
    {"x=2", "a f32 10", "r = slice(a) 'start':[2],'limit':[9],'strides':[3]", "d0:[x]", "2/3", "exchange"},
    {"x=2,y=2", "a f32 10,4", "r = slice(a) 'start':[1,0],'limit':[9,4]", "d0:[x,y]", "1/4", "exchange"},
    {"x=2", "a f32 10,4", "r = slice(a) 'start':[1,0],'limit':[9,4]", "d1:[x]", "1/2", ""},
    {"x=2", "a f32 6; v f32", "r = pad(a, v) 'low':[1],'high':[3]", "d0:[x]", "1/2", "exchange"},
    {"x=2", "a f32 6; v f32", "r = pad(a, v) 'low':[0],'high':[3]", "d0:[x]", "5/9", "exchange"},
    {"x=3", "a f32 8; v f32", "r = pad(a, v) 'low':[-2],'high':[-1]", "d0:[x]", "2/5", "exchange"},
    {"x=2", "a f32 8; v f32", "r = pad(a, v) 'low':[3],'high':[-4]", "d0:[x]", "4/7", "exchange"},
    {"x=2", "a f32 4,3; v f32", "r = pad(a, v) 'low':[0,1],'high':[0,0],'interior':[0,1]", "d0:[x]", "out 1/2", ""},
    {"x=2", "a f32 4,1; v f32", "r = pad(a, v) 'low':[0,2],'high':[0,1],'interior':[0,1]", "d1:[x]", "1/2", "exchange"},
    {"x=2", "a f32 4; b f32 6", "r = concatenate(a, b) 'dim':0", "d0:[x]", "1/2", "exchange; exchange"},
    {"x=3", "a f32 2,4; b f32 3,4; c f32 5,4", "r = concatenate(a, b, c) 'dim':0", "d0:[x]", "2/5",
     "exchange; exchange; exchange"},
    {"x=2", "a f32 2,4; b f32 3,4", "r = concatenate(a, b) 'dim':0", "d1:[x]", "1/2", ""},
    /* reductions */
    {"x=2", "a f32 4,6", "r = reduce(a) 'kind':'sum','dims':[1]", "d1:[x]", "1/2", "all_reduce sum [x]"},
    {"x=2", "a f32 4,6", "r = reduce(a) 'kind':'sum','dims':[1]", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4,5", "r = reduce(a) 'kind':'sum','dims':[1]", "d1:[x]", "3/5", "all_reduce sum [x]"},
    {"x=2", "a f32 4,5", "r = reduce(a) 'kind':'product','dims':[1]", "d1:[x]", "3/5", "all_reduce product [x]"},
    {"x=2", "a f32 4,5", "r = reduce(a) 'kind':'min','dims':[1]", "d1:[x]", "3/5", "all_reduce min [x]"},
    {"x=2", "a f32 4,5", "r = reduce(a) 'kind':'max','dims':[1]", "d1:[x]", "3/5", "all_reduce max [x]"},
    {"x=2", "a i32 5", "r = reduce(a) 'kind':'bitwise_and','dims':[0]", "d0:[x]", "3/5", "all_reduce bitwise_and [x]"},
    {"x=2", "a i32 5", "r = reduce(a) 'kind':'bitwise_or','dims':[0]", "d0:[x]", "3/5", "all_reduce bitwise_or [x]"},
    {"x=2", "a i32 5", "r = reduce(a) 'kind':'bitwise_xor','dims':[0]", "d0:[x]", "3/5", "all_reduce bitwise_xor [x]"},
    {"x=2", "a bool 5", "r = reduce(a) 'kind':'and','dims':[0]", "d0:[x]", "3/5", "all_reduce and [x]"},
    {"x=2", "a bool 5", "r = reduce(a) 'kind':'or','dims':[0]", "d0:[x]", "3/5", "all_reduce or [x]"},
    {"x=2,y=3", "a f32 4,7", "r = reduce(a) 'kind':'sum','dims':[0,1],'keep_dims':true", "d0:[x] d1:[y]", "3/14",
     "all_reduce sum [x,y]"},
    {"x=2,y=2", "a f32 9", "r = reduce(a) 'kind':'sum','dims':[0]", "d0:[y,x]", "1/3", "all_reduce sum [x,y]"},
    {"x=2,y=4", "a f32 5", "r = reduce(a) 'kind':'max','dims':[0]", "d0:[x,y]", "1/5", "all_reduce max [x,y]"},
    /* picks: each device from its part, then all from the picks (the second pick counts as work as well) */
    {"x=2", "a f32 3,8", "r = argmax(a) 'dim':1", "d1:[x]", "3/4", "all_gather dim=1 [x]; all_gather dim=1 [x]"},
    {"x=2", "a f32 3,9", "r = argmin(a) 'dim':1", "d1:[x]", "7/9", "all_gather dim=1 [x]; all_gather dim=1 [x]"},
    {"x=2", "a f32 4,9", "r = argmin(a) 'dim':1", "d0:[x]", "1/2", ""},
    {"x=2,y=2", "a i32 16", "r = argmax(a) 'dim':0", "d0:[y,x]", "1/2",
     "all_gather dim=0 [y,x]; all_gather dim=0 [y,x]"},
    {"x=2", "a f32 3,16", "r, s = top_k(a) 'k':2", "d1:[x]", "3/4", "all_gather dim=1 [x]; all_gather dim=1 [x]"},
    {"x=3", "a f32 2,16", "r, s = top_k(a) 'k':2", "d1:[x]", "3/4", "all_gather dim=1 [x]; all_gather dim=1 [x]"},
    {"x=2,y=2", "a f32 2,6", "r, s = top_k(a) 'k':5", "d1:[x,y]", "5/3",
     "all_gather dim=1 [x,y]; all_gather dim=1 [x,y]"},
    {"x=2", "a f32 4,6", "r, s = top_k(a) 'k':5", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 3,8; b i32 3,8", "r, s = sort(a, b) 'dim':1", "d0:[x]", "2/3", ""},
    {"x=3", "a f32 7,8", "r = sort(a) 'dim':1,'descending':true", "d0:[x]", "3/7", ""},
    {"x=2,y=2", "s u64 2", "t, r = rng_bit_generator(s) 'dtype':'u32','shape':[5,4],'algorithm':'three_fry'",
     "d0:[y] d1:[x]", "3/10", ""},
    {"x=3", "s u64 3", "t, r = rng_bit_generator(s) 'dtype':'u64','shape':[7]", "d0:[x]", "3/7", ""},
    {"x=2", "a c64 5,6", "r = fft(a) 'fft_type':'fft','fft_length':[6]", "d0:[x]", "3/5", ""},
    {"x=2", "a f32 5; b f32 5", "r = complex(a, b)", "d0:[x]", "3/5", ""},
    {"x=2", "a c64 5", "r = imag(a)", "d0:[x]", "3/5", ""},
    {"x=2", "a c64 5; b c64 5", "r = divide(a, b)", "d0:[x]", "3/5", ""},
    {"x=2", "a f64 3,4,4", "r = cholesky(a)", "d0:[x]", "2/3", ""},
    {"x=2,y=2", "a f64 3,2,2; b f64 3,2,5", "r = triangular_solve(a, b) 'unit_diagonal':true", "d0:[x] d2:[y]", "2/5",
     ""},
    {"x=2", "a f32 3,8; s f32 3,4; i f32", "r = select_and_scatter(a, s, i) 'window':[1,2],'strides':[1,2]", "d0:[x]",
     "2/3", ""},
    {"x=2", "a f32 5,2", "r = bitcast_convert(a) 'dtype':'i64'", "d0:[x]", "out 3/5", ""},
    {"x=2", "a i64 5", "r = bitcast_convert(a) 'dtype':'i16'", "d0:[x]", "out 3/5", ""},
    {"x=2", "a f32 5", "r = reduce_precision(a) 'exponent_bits':8,'mantissa_bits':7", "d0:[x]", "3/5", ""},
    /* attention: batch, heads and queries by themselves; keys by merging; the causal half is counted where it is most
     */
    {"x=2", ATTENTION_ARGS, "o, l = attention(q, k, v)", "d0:[x]", "1/2", ""},
    {"x=2,y=2", ATTENTION_ARGS, "o, l = attention(q, k, v)", "d1:[x] d2:[y]", "1/4", ""},
    {"x=3", ATTENTION_ARGS, "o, l = attention(q, k, v)", "d3:[x]", "2/5", ""},
    {"x=2", ATTENTION_ARGS, "o, l = attention(q, k, v) 'causal':true,'base':1", "d3:[x]", "out 3/5", ""},
    {"x=2", ATTENTION_ARGS, "o, l = attention(q, k, v)", "d4:[x]", "1/2", "all_gather dim=3 [x]; all_reduce sum [x]"},
    {"x=2,y=2", ATTENTION_ARGS, "o, l = attention(q, k, v) 'causal':true,'base':1", "d3:[x] d4:[y]", "out 3/5",
     "all_gather dim=3 [y]; all_reduce sum [y]"},
    {"x=4", ATTENTION_ARGS, "o, l = attention(q, k, v)", "d4:[x]", "1/3", "all_gather dim=3 [x]; all_reduce sum [x]"},
    {"x=2", GRADIENT_ARGS, "a, b, c = attention_grad(q, k, v, o, l, d)", "d1:[x]", "1/2", ""},
    {"x=2", GRADIENT_ARGS, "a, b, c = attention_grad(q, k, v, o, l, d) 'causal':true", "d3:[x]", "out 3/5",
     "all_reduce sum [x]; all_reduce sum [x]"},
    {"x=2", GRADIENT_ARGS, "a, b, c = attention_grad(q, k, v, o, l, d) 'causal':true", "d4:[x]", "out 1/1",
     "all_reduce sum [x]"},
    /* dot: every loop */
    {"x=2", "a f32 4,6; w f32 6,8", "r = dot_general(a, w) " CONTRACT, "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4,6; w f32 6,8", "r = dot_general(a, w) " CONTRACT, "d1:[x]", "1/2", ""},
    {"x=2", "a f32 4,6; w f32 6,8", "r = dot_general(a, w) " CONTRACT, "d2:[x]", "1/2", "all_reduce sum [x]"},
    {"x=2", "a f32 4,5; w f32 5,8", "r = dot_general(a, w) " CONTRACT, "d2:[x]", "3/5", "all_reduce sum [x]"},
    {"x=3", "a f32 4,7; w f32 7,8", "r = dot_general(a, w) " CONTRACT, "d2:[x]", "3/7", "all_reduce sum [x]"},
    {"x=2,y=4", "a f32 4,5; w f32 5,8", "r = dot_general(a, w) " CONTRACT, "d2:[y,x]", "1/5", "all_reduce sum [x,y]"},
    {"x=2,y=2", "a f32 4,6; w f32 6,8", "r = dot_general(a, w) " CONTRACT, "d0:[x] d2:[y]", "1/4",
     "all_reduce sum [y]"},
    {"x=2", "a f32 3,4,6; w f32 3,6,8",
     "r = dot_general(a, w) 'lhs_batch':[0],'rhs_batch':[0],'lhs_contract':[2],'rhs_contract':[1]", "d0:[x]", "2/3",
     ""},
    /* sources */
    {"x=2", "", "r = iota() 'dtype':'i32','shape':[4,6],'dim':0", "d0:[x]", "1/2", ""},
    {"x=2", "", "r = iota() 'dtype':'f32','shape':[4,6],'dim':0", "d1:[x]", "1/2", ""},
    {"x=2,y=2", "", "r = iota() 'dtype':'i32','shape':[9],'dim':0", "d0:[y,x]", "1/3", ""},
    {"x=2", "", "r = constant() 'dtype':'f32','shape':[5],'value':[1,-2,3,-4,5]", "d0:[x]", "3/5",
     "all_slice dim=0 [x]"},
    {"x=2", "", "r = constant() 'dtype':'f32','shape':[5],'value':7", "d0:[x]", "3/5", ""},
    {"x=2", "", "r = rng() 'dtype':'f32','shape':[5,4],'seed':3", "d0:[x]", "3/5", ""},
    {"x=2,y=2", "", "r = rng() 'dtype':'f32','shape':[4,4],'seed':3,'distribution':'normal'", "d0:[y] d1:[x]", "1/4",
     ""},
    /* run-time positions */
    {"x=2", "a f32 10,4; i i32; j i32", "r = dynamic_slice(a, i, j) 'sizes':[3,4]", "d1:[x]", "out 1/2", ""},
    {"x=2", "a f32 10,4; i i32; j i32", "r = dynamic_slice(a, i, j) 'sizes':[3,4]", "d2:[x]", "in 1/2",
     "all_reduce sum [x]"},
    {"x=3", "a f32 10,4; i i32; j i32", "r = dynamic_slice(a, i, j) 'sizes':[3,4]", "d2:[x]", "in 2/5",
     "all_reduce sum [x]"},
    {"x=2", "a f32 10,4; u f32 3,4; i i32; j i32", "r = dynamic_update_slice(a, u, i, j)", "d0:[x]", "out 1/2", ""},
    {"x=3", "a f32 10,4; u f32 3,4; i i32; j i32", "r = dynamic_update_slice(a, u, i, j)", "d0:[x]", "out 2/5", ""},
    {"x=2", "a f32 10,4; u f32 3,4; i i32; j i32", "r = dynamic_update_slice(a, u, i, j)", "d1:[x]", "out 1/2", ""},
    {"x=2", "t f32 10,4; i i32 6", "r = gather(t, i) " ROWS_OF ",'sizes':[1,4]", "d0:[x]", "1/2", ""},
    {"x=2", "t f32 10,4; i i32 6", "r = gather(t, i) " ROWS_OF ",'sizes':[1,4]", "d1:[x]", "out 1/2", ""},
    {"x=2", "t f32 10,4; i i32 6", "r = gather(t, i) " ROWS_OF ",'sizes':[1,4]", "d2:[x]", "in 1/2",
     "all_reduce sum [x]"},
    {"x=3", "t f32 10,4; i u8 6", "r = gather(t, i) " ROWS_OF ",'sizes':[1,4]", "d2:[x]", "in 2/5",
     "all_reduce sum [x]"},
    {"x=2", "t f32 10,4; i i32 6; u f32 6,4", "r = scatter(t, i, u) 'kind':'sum'," ROWS_TO, "d0:[x]", "out 1/2", ""},
    {"x=3", "t f32 10,4; i i32 6; u f32 6,4", "r = scatter(t, i, u) 'kind':'replace'," ROWS_TO, "d0:[x]", "out 2/5",
     ""},
    {"x=2", "t f32 10,4; i i32 6; u f32 6,4", "r = scatter(t, i, u) 'kind':'max'," ROWS_TO, "d1:[x]", "1/2", ""},
    {"x=2", "t f32 10,4; i i32 6; u f32 6,4", "r = scatter(t, i, u) 'kind':'sum'," ROWS_TO, "d2:[x]", "1/2",
     "to_partial sum [x]; all_reduce sum [x]"},
    {"x=2", "t f32 10,4; i i32 5; u f32 5,4", "r = scatter(t, i, u) 'kind':'sum'," ROWS_TO, "d2:[x]", "3/5",
     "to_partial sum [x]; all_reduce sum [x]"},
    {"x=2", "t f32 10,4; i i32 5; u f32 5,4", "r = scatter(t, i, u) 'kind':'max'," ROWS_TO, "d2:[x]", "3/5",
     "to_partial max [x]; all_reduce max [x]"},
    {"x=2", "t f32 10,4; i i32 5; u f32 5,4", "r = scatter(t, i, u) 'kind':'product'," ROWS_TO, "d2:[x]", "3/5",
     "to_partial product [x]; all_reduce product [x]"},
    /* convolution: batch, output feature, input feature, groups, space with a halo, the kernel */
    {"x=2", "a f32 4,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d1:[x]", "1/2", ""},
    {"x=2", "a f32 4,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d2:[x]", "1/2", "all_reduce sum [x]"},
    {"x=2", "a f32 4,8,5; w f32 3,5,4", "r = convolution(a, w) " SAME_CONV, "d2:[x]", "3/5", "all_reduce sum [x]"},
    /* products of elements alone count; what comes by an exchange is one at the border, too */
    {"x=2", "a f32 4,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d3:[x]", "12/22", "exchange"},
    {"x=3", "a f32 2,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d3:[x]", "9/22", "exchange"},
    {"x=2,y=2", "a f32 2,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d3:[y,x]", "6/22", "exchange"},
    {"x=2", "a f32 2,9,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV ",'strides':[2]", "d3:[x]", "9/13",
     "exchange"},
    {"x=2", "a f32 2,9,6; w f32 3,6,4", "r = convolution(a, w) " CONV ",'rhs_dilation':[2]", "d3:[x]", "3/5",
     "exchange"},
    {"x=3", "a f32 2,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV, "d4:[x]", "8/22",
     "exchange; all_reduce sum [x]"},
    {"x=2", "a f32 2,8,6; w f32 3,3,4", "r = convolution(a, w) " SAME_CONV ",'feature_groups':2", "d1:[x]", "1/2", ""},
    {"x=3", "a f32 2,8,4; w f32 3,1,4", "r = convolution(a, w) " SAME_CONV ",'feature_groups':4", "d1:[x]", "1/2", ""},
    {"x=3", "a f32 4,8,6; w f32 3,6,4", "r = convolution(a, w) " SAME_CONV ",'batch_groups':4", "d1:[x]", "1/2", ""},
    {"x=2,y=2", "a f32 2,8,8; w f32 3,4,8", "r = convolution(a, w) " SAME_CONV ",'feature_groups':2", "d1:[x] d2:[y]",
     "1/4", ""},
    /* windows */
    {"x=2", "a f32 3,8", "r = reduce_window(a) " WINDOW, "d1:[x]", "1/2", "exchange"},
    {"x=3", "a f32 3,8", "r = reduce_window(a) " WINDOW, "d1:[x]", "3/8", "exchange"},
    {"x=2", "a f32 4,8", "r = reduce_window(a) " WINDOW, "d0:[x]", "1/2", ""},
    {"x=2", "a f32 8", "r = reduce_window(a) 'kind':'sum','window':[2],'strides':[2]", "d0:[x]", "1/2", ""},
    {"x=2", "a f32 11", "r = reduce_window(a) 'kind':'sum','window':[3],'strides':[2]", "d0:[x]", "3/5", "exchange"},
    /* scans */
    {"x=2", "a f32 3,8", "r = cumulative(a) 'kind':'sum','dim':1", "d1:[x]", "1/2", "all_gather dim=1 [x]"},
    {"x=2", "a f32 3,9", "r = cumulative(a) 'kind':'sum','dim':1,'reversed':true", "d1:[x]", "5/9",
     "all_gather dim=1 [x]"},
    {"x=3", "a f32 3,8", "r = cumulative(a) 'kind':'max','dim':1,'exclusive':true", "d1:[x]", "3/8",
     "all_gather dim=1 [x]"},
    {"x=2,y=2", "a f32 9", "r = cumulative(a) 'kind':'sum','dim':0,'reversed':true,'exclusive':true", "d0:[y,x]", "1/3",
     "all_gather dim=0 [y,x]"},
    {"x=2", "a f32 5", "r = cumulative(a) 'kind':'product','dim':0", "d0:[x]", "3/5", "all_gather dim=0 [x]"},
    {"x=2", "a f32 4,8", "r = cumulative(a) 'kind':'sum','dim':1", "d0:[x]", "1/2", ""},
    /* ops of one's own */
    {"x=2", "a f32 4,6; b f32 4,6", GENERIC_DOT, "d0:[x]", "1/2", ""},
    {"x=2", "a f32 4,6; b f32 4,6", GENERIC_DOT, "d1:[x]", "1/2", "all_reduce sum [x]"},
    {"x=2", "a f32 4,10",
     "r = generic(a) 'loops':[4,8,{'size':3,'kind':'reduction','combiner':'sum'}],"
     "'maps':['(d0,d1,d2)->(d0,d1+d2)','(d0,d1,d2)->(d0,d1)'],'body':'x0 * x0'",
     "d1:[x]", "1/2", "exchange"},
    /* partial values pass through linear ops: one all_reduce at the end */
    {"x=2", "a f32 4,6; w f32 6,8; v f32 6,8",
     "p = dot_general(a, w) " CONTRACT "; q = dot_general(a, v) " CONTRACT "; r = add(p, q)",
     "p = d2:[x]; q = d2:[x]; r = partial0:[x]", "1/1", "all_reduce sum [x]"},
    {"x=2", "a f32 4,6; w f32 6,8; b f32 4,8", "p = dot_general(a, w) " CONTRACT "; r = multiply(p, b)",
     "p = d2:[x]; r = partial0:[x]", "1/1", "all_reduce sum [x]"},
    {"x=2", "a f32 4,6; w f32 6,8", "p = dot_general(a, w) " CONTRACT "; r = transpose(p) 'permutation':[1,0]",
     "p = d2:[x]; r = partial0:[x]", "1/1", "all_reduce sum [x]"},
    {"x=2,y=2", "a f32 4,6; w f32 6,8", "p = dot_general(a, w) " CONTRACT "; r = reduce(p) 'kind':'sum','dims':[1]",
     "p = d0:[y] d2:[x]; r = d0:[y] partial0:[x]", "1/2", "all_reduce sum [x]"},
    {"x=2", "a f32 4,6; b f32 4,6",
     "p = reduce(a) 'kind':'max','dims':[1]; q = reduce(b) 'kind':'max','dims':[1]; r = maximum(p, q)",
     "p = d1:[x]; q = d1:[x]; r = partial0:[x]", "1/1", "all_reduce max [x]"},
    {"x=2", "a f32 4,6; w f32 6,8; v f32 8,2", "p = dot_general(a, w) " CONTRACT "; r = dot_general(p, v) " CONTRACT,
     "p = d2:[x]; r = partial0:[x]", "1/1", "all_reduce sum [x]"},
    /* and are scattered where the next op wants a part */
    {"x=2", "a f32 4,6; w f32 6,8", "p = dot_general(a, w) " CONTRACT "; r = tanh(p)", "p = d2:[x]; r = d0:[x]", "1/2",
     "reduce_scatter dim=0 sum [x]"},
    {"x=2", "a f32 4,6; w f32 6,8; v f32 8,6",
     "p = dot_general(a, w) " CONTRACT "; q = tanh(p); r = dot_general(q, v) " CONTRACT,
     "p = d1:[x]; q = d1:[x]; r = d2:[x]", "1/2", "all_reduce sum [x]"},
};

/* --- a row as a model file --------------------------------------------------------------------------------------- */

/* The next part of `text` up to a character of `ends`, without blanks around; moves behind that character. */
static bool next_part(const char **text, const char *ends, char *out, size_t room) {
  *text += strspn(*text, " ");
  if (!**text) return false;
  size_t n = strcspn(*text, ends), kept = n;
  while (kept && (*text)[kept - 1] == ' ') kept--;
  assert_true(kept < room);
  memcpy(out, *text, kept);
  out[kept] = 0;
  *text += n + ((*text)[n] != 0);
  return true;
}

/* "a, b" -> ["a","b"] */
static void put_names(const char *names, sw_text *out) {
  char name[32];
  sw_text_puts(out, "[");
  for (int i = 0; next_part(&names, ",", name, sizeof name); i++) sw_text_printf(out, "%s\"%s\"", i ? "," : "", name);
  sw_text_puts(out, "]");
}

static void put_args(const char *args, sw_text *out) {
  char arg[64], dtype[16], sizes[32];
  for (int i = 0; next_part(&args, ";", arg, sizeof arg); i++) {
    char name[16];
    const char *p = arg;
    assert_true(next_part(&p, " ", name, sizeof name) && next_part(&p, " ", dtype, sizeof dtype));
    if (!next_part(&p, " ", sizes, sizeof sizes)) sizes[0] = 0;
    sw_text_printf(out, "%s{\"name\":\"%s\",\"kind\":\"input\",\"dtype\":\"%s\",\"shape\":[%s]}", i ? "," : "", name,
                   dtype, sizes);
  }
}

/* "r, s = top_k(a) 'k':2" as an object; `results` gets "r, s". */
static void put_op(const char *line, char *results, size_t room, sw_text *out) {
  char code[40], operands[80];
  assert_true(next_part(&line, "=", results, room));
  assert_true(next_part(&line, "(", code, sizeof code));
  if (!next_part(&line, ")", operands, sizeof operands)) operands[0] = 0;
  bool own = strcmp(code, "generic") == 0; /* its fields stand beside "op" */
  sw_text_printf(out, "{\"op\":\"%s\",\"inputs\":", code);
  put_names(operands, out);
  sw_text_puts(out, ",\"outputs\":");
  put_names(results, out);
  sw_text_puts(out, own ? "," : ",\"attrs\":{");
  for (const char *p = line; *p; p++) sw_text_printf(out, "%c", *p == '\'' ? '"' : *p);
  sw_text_puts(out, own ? "}" : "}}");
}

static sw_graph *build(const row *r) {
  sw_text t = {0};
  sw_graph *g;
  char line[512], results[64] = "";
  const char *ops = r->ops;
  sw_text_puts(&t, "{\"format\":\"shardwright-model\",\"version\":1,\"values\":[");
  put_args(r->args, &t);
  sw_text_puts(&t, "],\"ops\":[");
  for (int i = 0; next_part(&ops, ";", line, sizeof line); i++) {
    if (i) sw_text_puts(&t, ",");
    put_op(line, results, sizeof results, &t);
  }
  sw_text_puts(&t, "],\"outputs\":");
  put_names(results, &t);
  sw_text_puts(&t, "}");
  assert_ok(sw_model_parse("row", sw_text_str(&t), t.n, &g, &diag));
  sw_text_free(&t);
  return g;
}

/* --- its plan ---------------------------------------------------------------------------------------------------- */

typedef struct bench {
  const row *row;
  sw_arena arena;
  sw_graph *g;
  sw_mesh mesh;
  sw_machine *machine;
  sw_plan plan;
  const sw_op *main; /* the last op */
} bench;

static void set_strategies(bench *b) {
  char part[160], name[32];
  const char *rest = b->row->strategy;
  while (next_part(&rest, ";", part, sizeof part)) {
    const char *text = part;
    const sw_op *op = b->main;
    if (strchr(part, '=')) {
      assert_true(next_part(&text, "=", name, sizeof name));
      op = &b->g->ops[sw_graph_op_named(b->g, name)];
      text += strspn(text, " ");
    }
    sw_strategy *s = &b->plan.ops[op - b->g->ops];
    assert_ok(sw_strategy_parse(b->g, op, &b->mesh, text, SW_NOWHERE, &b->arena, s, &diag));
    assert_ok(sw_strategy_check(b->g, op, &b->mesh, s, &diag));
  }
}

/* Arguments arrive as their first user wants them, outputs leave as they are made. */
static void follow_ops(bench *b) {
  const sw_graph *g = b->g;
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_plan_use_sharding(&b->plan, g->values[g->args[i]].uses[0], &b->plan.args[i]);
    b->plan.args[i].n_partial = 0;
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    sw_plan_value_sharding(&b->plan, g->outputs[i], &b->plan.outputs[i]);
    b->plan.outputs[i].n_partial = 0;
  }
}

/* A plan with every op uncut. */
static void prepare(bench *b, const row *r, const char *mesh) {
  const sw_profile *hw;
  *b = (bench){.row = r, .g = build(r)};
  const sw_graph *g = b->g;
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &b->arena, &hw, &diag));
  assert_ok(sw_mesh_parse(mesh, &b->arena, &b->mesh, &diag));
  assert_ok(sw_machine_build(&b->arena, hw, &b->mesh, &b->machine, &diag));
  assert_ok(sw_plan_build(JOB(g, b->machine), &b->arena, &b->plan, &diag));
  b->main = &g->ops[g->n_ops - 1];
}

static void discard(bench *b) {
  sw_graph_destroy(b->g);
  sw_arena_deinit(&b->arena);
}

/* --- what came of it --------------------------------------------------------------------------------------------- */

/* Elements of the main op's result, or its work (flops, else bytes) in the model or, summed over the ops of that kind
 * which stem from it, in the program. */
static double work_in(const bench *b, const sw_spmd *s, bool flops) {
  double sum = 0, f, bytes;
  if (!s) {
    sw_op_work(b->g, b->main, NULL, &f, &bytes);
    return flops ? f : bytes;
  }
  const sw_graph *g = s->program;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const sw_origin *from = &s->origin[i];
    if (op->code != b->main->code || from->op != b->main - b->g->ops || from->value >= 0) continue;
    sw_op_work(g, op, NULL, &f, &bytes);
    sum += flops ? f : bytes;
  }
  return sum;
}

static double result_part(const bench *b, const sw_spmd *s) {
  sw_id made = -1; /* the first one: as the op gives it */
  for (sw_id v = s->program->n_values - 1; v >= 0; v--) {
    if (s->layout[v].is_block && s->layout[v].source == b->main->results[0]) made = v;
  }
  assert_true(made >= 0);
  return (double)sw_type_elements(&s->program->values[made].type) /
         (double)sw_type_elements(sw_result_type(b->g, b->main, 0));
}

/* Elements of operand 0 as the first op that stems from the main one takes it. */
static double operand_part(const bench *b, const sw_spmd *s) {
  const sw_graph *g = s->program;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const sw_origin *from = &s->origin[i];
    if (from->op != b->main - b->g->ops || from->value >= 0) continue;
    for (int k = 0; k < op->n_operands; k++) {
      if (s->layout[op->operands[k]].source != b->main->operands[0]) continue;
      return (double)sw_type_elements(sw_operand_type(g, op, k)) /
             (double)sw_type_elements(sw_operand_type(b->g, b->main, 0));
    }
  }
  return 0;
}

static double work_part(const bench *b, const sw_spmd *s) {
  if (strncmp(b->row->work, "out ", 4) == 0) return result_part(b, s);
  if (strncmp(b->row->work, "in ", 3) == 0) return operand_part(b, s);
  bool flops = work_in(b, NULL, true) > 0;
  double whole = work_in(b, NULL, flops), here = work_in(b, s, flops);
  return whole > 0 && here > 0 ? here / whole : result_part(b, s);
}

static double expected_part(const char *text) {
  double a = 0, n = 0;
  text += strcspn(text, "0123456789");
  assert_int_equal(sscanf(text, "%lf/%lf", &a, &n), 2);
  return a / n;
}

/* Collectives as "a; b". */
static void list_collectives(const sw_spmd *s, sw_text *out) {
  sw_spmd_collectives(s, out);
  (void)sw_text_str(out);
  size_t n = out->n;
  if (n && out->at[n - 1] == '\n') n--;
  sw_text lines = *out;
  *out = (sw_text){0};
  for (size_t i = 0; i < n; i++) sw_text_printf(out, lines.at[i] == '\n' ? "; " : "%c", lines.at[i]);
  sw_text_free(&lines);
}

/* Whole arguments are sliced first; then the same collectives follow. */
static bool same_collectives(const char *got, const char *want, bool whole) {
  while (whole && strcmp(got, want) != 0 && strncmp(got, "all_slice ", 10) == 0) {
    const char *end = strstr(got, "; ");
    got = end ? end + 2 : "";
  }
  return strcmp(got, want) == 0;
}

/* Does it match one device, every value compared? Small integers first, then floats. */
static bool executes(const bench *b, bool floats) {
  sw_arena arena = {0};
  sw_validation v;
  sw_validate_options o = {.seed = 5, .random_floats = floats, .intermediates = true, .timeout_s = 30};
  sw_rc rc = sw_validate(&b->plan, &o, &arena, &v, &diag);
  if (rc) sw_diag_print(&diag, stderr, true);
  bool good = rc == SW_OK && v.matches && v.first_bad_op == NULL && v.elements > 0;
  sw_arena_deinit(&arena);
  return good;
}

static bool check_row(const row *r, bool whole) {
  bench b;
  sw_spmd s;
  sw_text got = {0};
  prepare(&b, r, r->mesh);
  set_strategies(&b);
  follow_ops(&b);
  b.plan.args_whole = whole;
  assert_ok(sw_plan_verify(&b.plan, &diag));
  assert_ok(sw_partition(&b.plan, &s, &diag));
  assert_ok(sw_spmd_verify(&s, &diag));
  list_collectives(&s, &got);
  double part = work_part(&b, &s);
  bool listed = same_collectives(sw_text_str(&got), r->collectives, whole);
  bool worked = fabs(part - expected_part(r->work)) < 1e-9;
  bool ran = executes(&b, false) && executes(&b, true) && s.n_fallbacks == 0;
  if (!listed || !worked || !ran || getenv("SW_TEST_PRINT")) {
    print_message("%s: %s  [%s]  args %s\n  work %g, expected %s%s\n  '%s'%s%s\n%s", r->mesh, r->ops, r->strategy,
                  whole ? "whole" : "cut", part, r->work, worked ? "" : "  WRONG", sw_text_str(&got),
                  listed ? "" : "  EXPECTED ", listed ? "" : r->collectives, ran ? "" : "  DOES NOT MATCH\n");
  }
  sw_text_free(&got);
  sw_spmd_deinit(&s);
  discard(&b);
  return listed && worked && ran;
}

static void every_op_runs_cut(void **state) {
  (void)state;
  int failed = 0, n = (int)(sizeof kRows / sizeof kRows[0]);
  for (int i = 0; i < n; i++) failed += !check_row(&kRows[i], false) || !check_row(&kRows[i], true);
  print_message("%d rows\n", n);
  assert_int_equal(failed, 0);
}

/* Every strategy of the last op of a row on a mesh; returns how many were tried. */
static int try_strategies(const row *r, const char *mesh, int *failed) {
  bench b;
  sw_enumeration all;
  prepare(&b, r, mesh);
  assert_ok(sw_strategies_enumerate(JOB(b.g, b.machine), b.main, NULL, &b.arena, &all, &diag));
  for (int32_t i = 0; i < all.n; i++) {
    assert_true(sw_op_least_s(JOB(b.g, b.machine), b.main) <= all.cost[i].local_s + all.cost[i].move_s);
    b.plan.ops[b.main - b.g->ops] = all.at[i];
    b.plan.args_whole = i % 4 == 3;
    follow_ops(&b);
    assert_ok(sw_plan_verify(&b.plan, &diag));
    if (executes(&b, false)) continue;
    sw_text t = {0};
    sw_strategy_print(&b.mesh, b.main->nest, &all.at[i], &t);
    print_message("%s: %s  %s  [%s]  DOES NOT MATCH\n", mesh, r->args, r->ops, sw_text_str(&t));
    sw_text_free(&t);
    ++*failed;
  }
  discard(&b);
  return all.n;
}

static void every_strategy_executes(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"x=2", "x=3", "x=2,y=2", "x=2,y=3"};
  uint64_t seed = check_seed(1);
  int failed = 0, tried = 0, turn = 0, n = (int)(sizeof kRows / sizeof kRows[0]);
  for (int i = 0; i < n; i++) {
    bool again = i > 0 && strcmp(kRows[i].ops, kRows[i - 1].ops) == 0 && strcmp(kRows[i].args, kRows[i - 1].args) == 0;
    for (size_t m = 0; !again && m < sizeof kMeshes / sizeof kMeshes[0]; m++) {
      if (check_turn(seed, turn++)) tried += try_strategies(&kRows[i], kMeshes[m], &failed);
    }
  }
  print_message("%d strategies executed\n", tried);
  assert_int_equal(failed, 0);
}

/* An op nobody knows runs whole on every device: said, counted, and its operand gathered. */
static void unknown_op_is_a_fallback(void **state) {
  (void)state;
  static const char kModel[] =
      "{\"format\":\"shardwright-model\",\"version\":1,"
      "\"values\":[{\"name\":\"a\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4,6]}],"
      "\"ops\":[{\"op\":\"tanh\",\"inputs\":[\"a\"],\"outputs\":[\"t\"]},"
      "{\"op\":\"opaque\",\"inputs\":[\"t\"],\"outputs\":[{\"name\":\"r\",\"dtype\":\"f32\",\"shape\":[4,6]}],"
      "\"attrs\":{\"target\":\"find_edges\"}}],\"outputs\":[\"r\"]}";
  sw_arena arena = {0};
  sw_graph *g;
  sw_mesh mesh;
  const sw_profile *hw;
  sw_machine *machine;
  sw_plan plan;
  sw_spmd s;
  sw_text got = {0};
  assert_ok(sw_model_parse("row", kModel, strlen(kModel), &g, &diag));
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &arena, &hw, &diag));
  assert_ok(sw_mesh_parse("x=2", &arena, &mesh, &diag));
  assert_ok(sw_machine_build(&arena, hw, &mesh, &machine, &diag));
  assert_ok(sw_plan_build(JOB(g, machine), &arena, &plan, &diag));
  (void)sw_sharding_push(&plan.args[0], 0, sw_axis_whole(&mesh, 0));
  const sw_op *tanh_op = &g->ops[sw_graph_op_named(g, "t")];
  (void)sw_strategy_push(&plan.ops[tanh_op - g->ops], 0, sw_axis_whole(&mesh, 0));
  assert_ok(sw_plan_verify(&plan, &diag));
  assert_ok(sw_partition(&plan, &s, &diag));
  assert_ok(sw_spmd_verify(&s, &diag));
  list_collectives(&s, &got);
  assert_string_equal(sw_text_str(&got), "all_gather dim=0 [x]");
  assert_int_equal(s.n_fallbacks, 1);
  sw_text_free(&got);
  sw_spmd_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_op_runs_cut), cmocka_unit_test(every_strategy_executes),
                                     cmocka_unit_test(unknown_op_is_a_fallback)};
  return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
