// SPDX-License-Identifier: BSD-3-Clause
// What ExecuTorch's Vulkan partitioner registers, as programs name it: aten ops with the overload that writes to `out`,
// others without overload. Written by tests/docs/exporter_ops.py --write from the pinned exporter; a test compares.
#pragma once

#include <string_view>

namespace pteron {

constexpr std::string_view exporter_version = "1.5.1";

struct ExporterOps {
  std::string_view first_input;  // types that it takes, or empty: any of `exporter_types`
  bool many_dims;                // more than four dimensions too
  bool resizes;                  // also if the export asks for dynamic shapes
  std::string_view names;        // separated by spaces
};

constexpr std::string_view exporter_types = "bool float16 float32 float64 int32 int64 int8 uint8";

// clang-format off
constexpr ExporterOps exporter_ops[] = {
    {"", false, false,
     "et_vk::q8ta_add et_vk::q8ta_conv2d et_vk::q8ta_conv2d_dw et_vk::q8ta_conv2d_pw et_vk::q8ta_conv2d_transposed "
     "et_vk::q8ta_linear et_vk::q8ta_linear_gemv"},
    {"", false, true,
     "aten::copy.out et_vk::embedding_q4gsw et_vk::q8ta_pixel_shuffle et_vk::q8ta_relu "
     "quantized_decomposed::choose_qparams quantized_decomposed::choose_qparams_per_token_asymmetric "
     "quantized_decomposed::dequantize_per_channel quantized_decomposed::dequantize_per_token "
     "quantized_decomposed::embedding_4bit quantized_decomposed::quantize_per_channel "
     "quantized_decomposed::quantize_per_token torchao::choose_qparams_affine torchao::dequantize_affine "
     "torchao::quantize_affine"},
    {"", true, false,
     "quantized_decomposed::dequantize_per_tensor quantized_decomposed::quantize_per_tensor"},
    {"bool", false, true,
     "aten::where.self_out"},
    {"bool", true, true,
     "aten::bitwise_and.Tensor_out aten::bitwise_not.out aten::bitwise_or.Tensor_out aten::logical_and.out "
     "aten::logical_not.out aten::logical_or.out"},
    {"bool float16 float32 int32 int64", false, false,
     "aten::flip.out aten::full.out aten::full_like.out aten::index_select.out aten::ones.out aten::ones_like.out "
     "aten::repeat.out aten::t_copy.out aten::zeros.out aten::zeros_like.out"},
    {"bool float16 float32 int32 int64", false, true,
     "aten::_to_copy.out aten::constant_pad_nd.out"},
    {"bool float16 float32 int32 int64", true, false,
     "aten::expand_copy.out"},
    {"bool float16 float32 int32 int64", true, true,
     "aten::alias_copy.out aten::clone.out aten::gather.out aten::permute_copy.out aten::select_copy.int_out "
     "aten::slice_copy.Tensor_out aten::split_with_sizes_copy.out aten::squeeze_copy.dims_out "
     "aten::unsqueeze_copy.out aten::view_copy.out dim_order_ops::_clone_dim_order "
     "dim_order_ops::_to_dim_order_copy"},
    {"float16 float32", false, false,
     "aten::native_group_norm.out aten::upsample_bilinear2d.vec_out aten::upsample_nearest2d.vec_out "
     "et_vk::adamw_step et_vk::fused_ce et_vk::grid_priors et_vk::linear_dW et_vk::linear_dq8ca_q4gsw "
     "et_vk::linear_q4gsw et_vk::linear_q4gsw_backward et_vk::linear_q8ta_q8csw et_vk::q4gsw_requant"},
    {"float16 float32", false, true,
     "aten::_log_softmax.out aten::_native_batch_norm_legit_no_training.out aten::_softmax.out aten::abs.out "
     "aten::addmm.out aten::avg_pool2d.out aten::bmm.out aten::convolution.out aten::cos.out aten::embedding.out "
     "aten::exp.out aten::gelu.out aten::grid_sampler_2d.out aten::hardshrink.out aten::hardswish.out "
     "aten::hardtanh.out aten::leaky_relu.out aten::linear.out aten::log10.out aten::max_pool2d_with_indices.out "
     "aten::mm.out aten::native_layer_norm.out aten::neg.out aten::pixel_shuffle.out aten::relu.out "
     "aten::round.out aten::rsqrt.out aten::sigmoid.out aten::sin.out aten::sqrt.out aten::tanh.out "
     "et_vk::conv_with_clamp et_vk::linear_qcs4w et_vk::rms_norm et_vk::sdpa llama::custom_sdpa "
     "llama::sdpa_with_kv_cache llama::update_cache"},
    {"float16 float32", true, true,
     "aten::amax.out aten::amin.out aten::argmax.out aten::argmin.out aten::mean.out aten::pow.Tensor_Scalar_out "
     "aten::sum.IntList_out aten::unfold_copy.out et_vk::apply_rotary_emb et_vk::apply_rotary_emb_hf "
     "et_vk::apply_rotary_emb_interleaved"},
    {"float16 float32 int32 int64", false, true,
     "aten::arange.start_out aten::cat.out aten::clamp.out aten::index.Tensor_out aten::scalar_tensor.out"},
    {"float16 float32 int32 int64", true, true,
     "aten::add.out aten::div.out aten::div.out_mode aten::eq.Scalar_out aten::eq.Tensor_out aten::ge.Scalar_out "
     "aten::ge.Tensor_out aten::gt.Scalar_out aten::gt.Tensor_out aten::le.Scalar_out aten::le.Tensor_out "
     "aten::lt.Scalar_out aten::lt.Tensor_out aten::minimum.out aten::mul.out aten::ne.Scalar_out "
     "aten::pow.Tensor_Tensor_out aten::sub.out"},
};
// clang-format on

}  // namespace pteron
