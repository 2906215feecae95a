// SPDX-License-Identifier: BSD-3-Clause
// What is around the content: tabs, light and dark.
import { find } from './dom.ts';

/** Tabs as ARIA wants them: arrows move, only the selected one is in the tab order. */
export function setUpTabs(): { select: (name: string) => void } {
  const names = ['chat', 'tensors'];
  const select = (name: string, focus = false): void => {
    for (const each of names) {
      const tab = find(`tab-${each}`);
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      find(`view-${each}`).hidden = each !== name;
    }
    if (focus) find(`tab-${name}`).focus();
  };
  for (const [i, name] of names.entries()) {
    find(`tab-${name}`).addEventListener('click', () => select(name));
    find(`tab-${name}`).addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? names.length - 1 : 0;
      if (step) select(names[(i + step) % names.length] as string, true);
    });
  }
  return { select };
}

export function setUpTheme(): void {
  const stored = localStorage.getItem('theme');
  if (stored) document.documentElement.dataset['theme'] = stored;
  find('theme').addEventListener('click', () => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = document.documentElement.dataset['theme'] ?? (dark ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = next;
    localStorage.setItem('theme', next);
  });
}
