func.func @main(%a: tensor<2x3x3xf32>, %z: tensor<3x3xcomplex<f32>>, %d: tensor<3xf32>, %b: tensor<3x2xf32>, %t: tensor<4x2xf32>) -> (tensor<2x3xf32>, tensor<3x3xcomplex<f32>>) {
  %e:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>, tensor<2xi32>)
  %w:4 = stablehlo.custom_call @lapack_cgeev_ffi(%z) : (tensor<3x3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>)
  %p:5 = "stablehlo.custom_call"(%a) <{api_version = 4 : i32, backend_config = {left = false, right = true}, call_target_name = "cusolver_geev_ffi"}> : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
  %s:6 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>)
  %q:5 = stablehlo.custom_call @lapack_cgees_ffi(%z) {mhlo.backend_config = {mode = 86 : ui8, sort = 83 : ui8}} : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>, tensor<i32>)
  %h:3 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {mhlo.backend_config = {high = 3 : i32, low = 1 : i32}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x2xf32>, tensor<2xi32>)
  %r:5 = stablehlo.custom_call @lapack_chetrd_ffi(%z) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>, tensor<i32>)
  %c = stablehlo.constant dense<0> : tensor<2xi32>
  %g:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%t, %c) : (tensor<4x2xf32>, tensor<2xi32>) -> (tensor<4x2xf32>, tensor<2xi32>, tensor<2xf32>)
  %m = stablehlo.custom_call @lapack_sormqr_ffi(%t, %g#2, %t) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<4x2xf32>, tensor<2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %y:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%d, %d, %d, %b) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<i32>)
  %x = stablehlo.custom_call @cusparse_gtsv2_ffi(%d, %d, %d, %b) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %v:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%b) {mhlo.backend_config = {compute_uv = false, full_matrices = false, transposed = false}} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<i32>)
  return %e#0, %w#2 : tensor<2x3xf32>, tensor<3x3xcomplex<f32>>
}
