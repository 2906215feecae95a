// SPDX-License-Identifier: BSD-3-Clause
// llama.cpp through node-llama-cpp behind as much of OpenAI's API as serve_load.py asks for: streams of greedy chat answers, several
// conversations in one batch. Prints its address.
// usage: node llama_server.mjs FOLDER_OF_NODE_MODULES MODEL.gguf vulkan|cpu CONVERSATIONS
import {createRequire} from "node:module";
import {createServer} from "node:http";
import {pathToFileURL} from "node:url";

const [folder, modelPath, backend, conversations] = process.argv.slice(2);
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(createRequire(folder + "/").resolve("node-llama-cpp")));
const gpu = backend === "cpu" ? false : backend;
const system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

const llama = await getLlama({gpu, build: "never", logLevel: LlamaLogLevel.error, vramPadding: 0});
const model = await llama.loadModel({modelPath, gpuLayers: gpu ? "max" : 0, ignoreMemorySafetyChecks: true});
const context = await model.createContext({
  contextSize: 256, sequences: Number(conversations), batchSize: 128, threads: 2, ignoreMemorySafetyChecks: true,
});
const free = Array.from({length: Number(conversations)}, () => context.getSequence()), waiting = [];

async function take() {
  return free.pop() ?? new Promise((resolve) => waiting.push(resolve));
}
function giveBack(sequence) {
  const next = waiting.shift();
  if (next) next(sequence);
  else free.push(sequence);
}

async function body(request) {
  let text = "";
  for await (const part of request) text += part;
  return JSON.parse(text);
}

async function answer(request, response) {
  const asked = await body(request), sequence = await take();
  try {
    await sequence.clearHistory();
    const turns = [{role: "system", content: system}, ...asked.messages].map((m) => `<|im_start|>${m.role}\n${m.content}<|im_end|>\n`);
    const tokens = model.tokenize(turns.join("") + "<|im_start|>assistant\n", true);
    response.writeHead(200, {"Content-Type": "text/event-stream"});
    let count = 0;
    for await (const token of sequence.evaluate(tokens, {temperature: 0, yieldEogToken: true})) {
      const content = model.detokenize([token]);
      const choice = {index: 0, delta: {content}, finish_reason: null, logprobs: {content: [{token: content, bytes: [token], top_logprobs: []}]}};
      response.write(`data: ${JSON.stringify({object: "chat.completion.chunk", choices: [choice]})}\n\n`);
      if (++count >= asked.max_tokens || response.destroyed) break;
    }
    response.end("data: [DONE]\n\n");
  } finally {
    giveBack(sequence);
  }
}

const server = createServer((request, response) => answer(request, response).catch((error) => response.destroy(error)));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({url: `http://127.0.0.1:${server.address().port}`})));
