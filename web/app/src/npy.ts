// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files.
import { tensor, type DType, type Tensor, type TensorData } from '../../src/index.ts';

const codes: Record<DType, string> = {
  bool: '|b1', uint8: '|u1', int8: '|i1', int32: '<i4', int64: '<i8', float16: '<f2', float32: '<f4', float64: '<f8',
};

export function readNpy(file: ArrayBuffer): Tensor {
  const bytes = new Uint8Array(file);
  const view = new DataView(file);
  if (bytes.length < 10 || String.fromCharCode(...bytes.subarray(1, 6)) !== 'NUMPY') throw new Error('this is no .npy file');
  const wide = (bytes[6] ?? 1) > 1;
  const begin = wide ? 12 : 10;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = new TextDecoder().decode(bytes.subarray(begin, begin + length));
  const code = /'descr':\s*'([^']+)'/.exec(header)?.[1] ?? '';
  const dtype = (Object.keys(codes) as DType[]).find((name) => codes[name] === code);
  if (!dtype) throw new Error(`arrays of type '${code}' can't be used; convert it to one of ${Object.keys(codes).join(', ')}`);
  if (/'fortran_order':\s*True/.test(header)) throw new Error('the array is in Fortran order; save numpy.ascontiguousarray(x)');
  const shape = (/'shape':\s*\(([^)]*)\)/.exec(header)?.[1] ?? '').split(',').filter((part) => part.trim()).map(Number);
  const array = tensor(dtype, [0], []).data.constructor as new (bytes: ArrayBuffer) => TensorData;
  const data = new array(file.slice(begin + length));
  if (data.length !== shape.reduce((product, size) => product * size, 1)) throw new Error('the file is not complete');
  return { dtype, shape, data };
}

export function writeNpy({ dtype, shape, data }: Tensor): Blob {
  const text = `{'descr': '${codes[dtype]}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const head = new Uint8Array(10 + length).fill(32);
  head.set([0x93, 78, 85, 77, 80, 89, 1, 0, length & 255, length >> 8]);
  head.set(new TextEncoder().encode(text), 10);
  head[head.length - 1] = 10;
  return new Blob([head, data as BlobPart]);
}
