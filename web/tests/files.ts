// SPDX-License-Identifier: BSD-3-Clause
// Small files of the kinds that the page takes.
import { crc32, deflateSync } from 'node:zlib';

/** As numpy.save writes it. */
export function npy(values: Float32Array, shape: number[]): Buffer {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  const header = `${text.padEnd(Math.ceil((11 + text.length) / 64) * 64 - 11)}\n`;
  const magic = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  return Buffer.concat([magic, Buffer.from(header), Buffer.from(values.buffer, values.byteOffset, values.byteLength)]);
}

export function readNpyFloats(file: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(file.subarray(10 + file.readUInt16LE(8))).buffer);
}

/** An image of one colour. */
export function png(width: number, height: number, colour: number[]): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8); // eight bits, RGB
  const line = Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
