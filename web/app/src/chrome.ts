// SPDX-License-Identifier: BSD-3-Clause
// What is around the content: tabs, light and dark.
import { find, memory } from './dom.ts';

/** Tabs as ARIA wants them: arrows move, only the selected one is in the tab order. On wide screens the details are always there. */
export function setUpTabs(): { select: (name: string) => void } {
  const names = ['chat', 'tensors', 'details'];
  const narrow = matchMedia('(max-width: 56rem)');
  const offered = (): string[] => (narrow.matches ? names : names.slice(0, 2));
  const select = (name: string, focus = false): void => {
    document.body.dataset['view'] = name;
    for (const each of names) {
      const tab = find(`tab-${each}`);
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
    }
    for (const view of names.slice(0, 2)) find(`view-${view}`).hidden = view !== name;
    if (focus) find(`tab-${name}`).focus();
  };
  for (const name of names) {
    find(`tab-${name}`).addEventListener('click', () => select(name));
    find(`tab-${name}`).addEventListener('keydown', ({ key }) => {
      const all = offered();
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? all.length - 1 : 0;
      if (step) select(all[(all.indexOf(name) + step) % all.length] as string, true);
    });
  }
  narrow.addEventListener('change', () => !narrow.matches && document.body.dataset['view'] === 'details' && select('chat'));
  return { select };
}

export function setUpTheme(): void {
  const stored = memory.get('localStorage', 'theme');
  if (stored) document.documentElement.dataset['theme'] = stored;
  find('theme').addEventListener('click', () => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = document.documentElement.dataset['theme'] ?? (dark ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = next;
    memory.set('localStorage', 'theme', next);
  });
}
