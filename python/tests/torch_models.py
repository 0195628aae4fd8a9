"""Small models of libraries, from their configurations, and what they are called with."""

import torch
import torchvision
import transformers
from torch.nn import functional
from torchvision.models.convnext import CNBlockConfig
from torchvision.models.resnet import Bottleneck

transformers.logging.set_verbosity_error()
TEXT = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256}
LONG = {"max_position_embeddings": 64}
GROUPED = {"num_key_value_heads": 2}
KEPT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
IMAGES = {"image_size": 32, "patch_size": 8, "num_labels": 10}
NO_DROPOUT = {"attn_pdrop": 0.0, "resid_pdrop": 0.0, "embd_pdrop": 0.0}
SMALL_GPT2 = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 256, "n_positions": 64, **NO_DROPOUT}
SMALL_T5 = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "vocab_size": 256, "dropout_rate": 0.0}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16}
LAST_WIDE = {"replace_stride_with_dilation": [False, False, True]}  # its norms have more than the four values of a batch
BLOCKS = [CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)]


def of_transformers(model, config, **sizes):
    return lambda **changes: getattr(transformers, model)(getattr(transformers, config)(**{**sizes, **changes}))


TEXTS = {
    "llama": of_transformers("LlamaForCausalLM", "LlamaConfig", **TEXT, **LONG, **GROUPED),
    "gpt2": of_transformers("GPT2LMHeadModel", "GPT2Config", **SMALL_GPT2),
    "qwen2": of_transformers("Qwen2ForCausalLM", "Qwen2Config", **TEXT, **LONG, **GROUPED),
    "qwen3": of_transformers("Qwen3ForCausalLM", "Qwen3Config", **TEXT, **LONG, **GROUPED, head_dim=16),
    "mistral": of_transformers("MistralForCausalLM", "MistralConfig", **TEXT, **LONG, **GROUPED, sliding_window=8),
    "bert": of_transformers("BertForMaskedLM", "BertConfig", **TEXT, **LONG, **KEPT),
    "t5": of_transformers("T5ForConditionalGeneration", "T5Config", **SMALL_T5, decoder_start_token_id=0),
    "mamba": of_transformers("MambaForCausalLM", "MambaConfig", hidden_size=64, num_hidden_layers=2, vocab_size=256, state_size=8),
}
MIXTURES = {  # of experts; products in groups are of f32 and bf16
    "mixtral": of_transformers("MixtralForCausalLM", "MixtralConfig", **TEXT, **LONG, **GROUPED, num_local_experts=4),
    "qwen3-moe": of_transformers("Qwen3MoeForCausalLM", "Qwen3MoeConfig", **TEXT, **LONG, **GROUPED, **EXPERTS),
}
PICTURES = {
    "vit": of_transformers("ViTForImageClassification", "ViTConfig", **TEXT, **IMAGES, **KEPT),
    "resnet": lambda: torchvision.models.ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, **LAST_WIDE),
    "convnext": lambda: torchvision.models.ConvNeXt(BLOCKS, num_classes=10),
}


def random(shape, seed=1, most=None):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator) if most is None else torch.randint(0, most, shape, generator=generator)


def job(name):
    """(model, inputs, options of shardwright.torch.plan without an optimizer)"""
    torch.manual_seed(0)
    if name in TEXTS or name in MIXTURES:
        ids = random((8, 16), most=256)
        return {**TEXTS, **MIXTURES}[name](), {"input_ids": ids, "labels": ids}, {}
    pixels, labels = random((4, 3, 32, 32)), random((4,), most=10)
    if name == "vit":
        return PICTURES[name](), {"pixel_values": pixels, "labels": labels}, {}
    return PICTURES[name](), pixels, {"loss": functional.cross_entropy, "targets": labels}
