// SPDX-License-Identifier: BSD-3-Clause

/** Texts whose contrast is below what WCAG asks for (4.5, or 3 if they are large). Self-contained: runs in the page. */
export function faintTexts(): string[] {
  type Colour = [number, number, number, number];
  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
  const colourOf = (css: string): Colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = css;
    context.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, a = 0] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a]: Colour, [x, y, z]: Colour): Colour => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const behind = (element: Element | null): Colour =>
    element ? over(colourOf(getComputedStyle(element).backgroundColor), behind(element.parentElement)) : colourOf('Canvas');
  const brightness = ([r, g, b]: Colour): number => {
    const linear = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  };
  const hasText = (element: Element): boolean => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
  return [...document.querySelectorAll<HTMLElement>('body *')]
    .filter((element) => hasText(element) && element.checkVisibility() && !element.closest(':disabled, [aria-hidden=true], option'))
    .flatMap((element) => {
      const { color, fontSize } = getComputedStyle(element);
      if (parseFloat(fontSize) === 0) return [];
      const background = behind(element);
      const [dark, light] = [brightness(background), brightness(over(colourOf(color), background))].sort((a, b) => a - b) as [number, number];
      const contrast = (light + 0.05) / (dark + 0.05);
      return contrast < (parseFloat(fontSize) >= 24 ? 3 : 4.5) ? [`'${element.textContent?.trim().slice(0, 30)}' has ${contrast.toFixed(2)}`] : [];
    });
}
