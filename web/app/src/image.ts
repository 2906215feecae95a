// SPDX-License-Identifier: BSD-3-Clause
// Images as the inputs of vision models: [1, 3, height, width], normalised with ImageNet's mean and deviation.
import type { Tensor, ValueInfo } from '../../src/index.ts';

const mean = [0.485, 0.456, 0.406] as const;
const deviation = [0.229, 0.224, 0.225] as const;

export const takesImage = ({ dtype, shape }: ValueInfo): boolean =>
  dtype === 'float32' && shape.length === 4 && shape[0] === 1 && (shape[1] === 3 || shape[1] === 1);

/** The middle of the image, as large as fits, in the input's size. */
export async function imageTensor(file: Blob, { shape }: ValueInfo): Promise<Tensor> {
  const [, channels = 3, height = 1, width = 1] = shape;
  const image = await createImageBitmap(file);
  const scale = Math.min(image.width / width, image.height / height);
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (!context) throw new Error('this browser can not draw images');
  const [w, h] = [width * scale, height * scale];
  context.drawImage(image, (image.width - w) / 2, (image.height - h) / 2, w, h, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height).data;
  const plane = width * height;
  const data = new Float32Array(channels * plane);
  for (let i = 0; i < plane; i += 1) {
    const rgb = [0, 1, 2].map((c) => ((pixels[4 * i + c] ?? 0) / 255 - (mean[c] ?? 0)) / (deviation[c] ?? 1));
    if (channels === 3) rgb.forEach((value, c) => (data[c * plane + i] = value));
    else data[i] = (rgb[0] ?? 0) * 0.299 + (rgb[1] ?? 0) * 0.587 + (rgb[2] ?? 0) * 0.114;
  }
  return { dtype: 'float32', shape: [1, channels, height, width], data };
}
