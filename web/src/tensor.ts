// SPDX-License-Identifier: BSD-3-Clause
// Tensors on the host: row-major, contiguous.
import { PteronError } from './errors.ts';

/** Element types in the order of C++'s DType, and the arrays that hold them. float16 is given as its bits. */
const arrays = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int32: Int32Array,
  float16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
} as const;

export type DType = keyof typeof arrays;
export type TensorData<T extends DType = DType> = InstanceType<(typeof arrays)[T]>;

export const dtypes = Object.keys(arrays) as DType[];

export interface Tensor<T extends DType = DType> {
  dtype: T;
  shape: readonly number[];
  data: TensorData<T>;
}

/** `tensor('int64', [1, 3], [37, 235, 396])`. Numbers are converted to the element type. */
export function tensor<T extends DType>(dtype: T, shape: readonly number[], values: TensorData<T> | readonly (number | bigint)[]): Tensor<T> {
  if (!(values instanceof Array)) return { dtype, shape, data: values };
  const data =
    dtype === 'int64' ? BigInt64Array.from(values, BigInt)
    : dtype === 'float16' ? Uint16Array.from(values, (value) => halfBits(Number(value)))
    : new (arrays[dtype] as Float32ArrayConstructor)(values.map(Number));
  return { dtype, shape, data: data as TensorData<T> };
}

/** The elements as numbers, whatever their type is. */
export function numbers({ dtype, data }: Tensor): number[] {
  return Array.from(data as ArrayLike<number | bigint>, dtype === 'float16' ? (bits) => halfValue(Number(bits)) : Number);
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 0x3ff;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25));
}

/** The nearest half; of two, the even one. */
function halfBits(value: number): number {
  const sign = Object.is(Math.sign(value), -0) || value < 0 ? 0x8000 : 0;
  if (Number.isNaN(value)) return 0x7e00;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00; // infinity
  const exponent = Math.max(-14, Math.floor(Math.log2(size || 1e-9)));
  const unit = 2 ** (exponent - 10);
  const scaled = size / unit;
  const floor = Math.floor(scaled);
  const up = scaled - floor > 0.5 || (scaled - floor === 0.5 && floor % 2 === 1);
  return sign | (((exponent + 14) << 10) + floor + (up ? 1 : 0)); // a mantissa that overflows carries into the exponent
}

export function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** A copy of bytes as an array of `dtype`. */
export function dataOf<T extends DType>(dtype: T, bytes: Uint8Array): TensorData<T> {
  const copy = bytes.slice();
  return new arrays[dtype](copy.buffer as ArrayBuffer) as TensorData<T>;
}

/** The bytes of a tensor; an error if they are not what its shape says. */
export function bytesOf(tensor: Tensor, what: string): Uint8Array {
  const { dtype, shape, data } = tensor;
  if (!(data instanceof arrays[dtype]))
    throw new PteronError('invalid', `${what} is ${dtype}, so its data should be a ${arrays[dtype].name}`);
  if (data.length !== elementsOf(shape))
    throw new PteronError('invalid', `${what} of shape [${shape.join(', ')}] has ${data.length} elements instead of ${elementsOf(shape)}`);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
