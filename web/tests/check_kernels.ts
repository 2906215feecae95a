// SPDX-License-Identifier: BSD-3-Clause
// Compiles kernels with the WebGPU implementation of `navigator.gpu`. Self-contained: runs in Node.js and, as text, in a
// page.

export interface KernelFile {
  name: string;
  text: string; // first line: "// uniform read read_write [subgroups]", then the WGSL
}

export interface KernelReport {
  adapter: string;
  compiled: number;
  skipped: number; // need a feature that the adapter does not have
  errors: string[];
}

export async function checkKernels(files: KernelFile[]): Promise<KernelReport> {
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) throw new Error('no WebGPU adapter');
  const wanted: GPUFeatureName[] = ['shader-f16', 'subgroups'];
  const features = wanted.filter((feature) => adapter.features.has(feature));
  // Default limits: what compiles here compiles on every device.
  const device = await adapter.requestDevice({ requiredFeatures: features });
  const { vendor, architecture, description } = adapter.info;
  const report: KernelReport = {
    adapter: [vendor, architecture, description].filter(Boolean).join(' ') || 'no name',
    compiled: 0,
    skipped: 0,
    errors: [],
  };
  const types = new Map<string, GPUBufferBindingType>([
    ['uniform', 'uniform'],
    ['read', 'read-only-storage'],
    ['read_write', 'storage'],
  ]);
  const typeOf = (kind: string): GPUBufferBindingType => {
    const type = types.get(kind);
    if (!type) throw new Error(`'${kind}' is no kind of binding`);
    return type;
  };

  async function check(file: KernelFile): Promise<void> {
    const [first = ''] = file.text.split('\n', 1);
    const words = first.replace('//', '').trim().split(/\s+/);
    const subgroups = words.at(-1) === 'subgroups';
    if (subgroups) words.pop();
    const f16 = /^enable f16;/m.test(file.text);
    if ((f16 && !features.includes('shader-f16')) || (subgroups && !features.includes('subgroups'))) {
      report.skipped += 1;
      return;
    }
    device.pushErrorScope('validation');
    // On the comment's line, so that lines keep their numbers.
    const code = subgroups ? `enable subgroups; ${file.text}` : file.text;
    const module = device.createShaderModule({ label: file.name, code });
    const layout = device.createBindGroupLayout({
      entries: words.map((kind, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: typeOf(kind), hasDynamicOffset: binding === 0 },
      })),
    });
    const pipeline = device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: 'main' },
    });
    const scope = device.popErrorScope();
    const refused = await pipeline.then(() => '', (error: Error) => error.message);
    const problem = (await scope)?.message ?? refused;
    if (problem) report.errors.push(`${file.name}: ${problem}`);
    else report.compiled += 1;
  }

  for (const file of files) await check(file);
  device.destroy();
  return report;
}
