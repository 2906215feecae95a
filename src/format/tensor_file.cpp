// SPDX-License-Identifier: BSD-3-Clause
#include "format/tensor_file.h"

#include "flat_tensor_generated.h"
#include "format/flatbuffer_tools.h"

namespace pteron::format {

Result<TensorFileHeader> read_tensor_file_header(Bytes head, u64 file_size) {
  if (head.size() < tensor_file_header_bytes)
    return invalid("the file has ", file_size, " bytes; a tensor data file has at least ", tensor_file_header_bytes);
  if (std::memcmp(head.data() + 4, "FT01", 4) != 0 || std::memcmp(head.data() + 8, "FH01", 4) != 0)
    return invalid("the file is not a tensor data file: 'FT01' and 'FH01' are not at bytes 4 and 8");
  const u32 length = load<u32>(head, 12);
  if (length < 40) return invalid("the tensor data header says it is ", length, " bytes long; at least 40 are needed");
  const DataRange file{0, file_size};
  TensorFileHeader header;
  // The header is inserted behind the flatbuffer's identifier, so the flatbuffer begins with the file and its size
  // counts from where the header ends.
  TRY(const DataRange rest, subrange(file, load<u64>(head, 16), load<u64>(head, 24), "the tensor data index"));
  header.flatbuffer = {0, rest.offset + rest.size};
  if (header.flatbuffer.size > largest_flatbuffer)
    return invalid("the tensor data index says that it has ", header.flatbuffer.size, " bytes; the limit is ",
                   largest_flatbuffer);
  TRY(header.segments, subrange(file, load<u64>(head, 32), load<u64>(head, 40), "the tensor data"));
  return header;
}

Result<std::map<std::string, DataRange, std::less<>>> read_tensor_file(Bytes flatbuffer,
                                                                       const TensorFileHeader& header) {
  if (!verify<fb::ptd::FlatTensor>(flatbuffer, fb::ptd::FlatTensorIdentifier()))
    return invalid("the tensor data index fails verification; the file is corrupted");
  const fb::ptd::FlatTensor& root = *fb::ptd::GetFlatTensor(flatbuffer.data());
  std::map<std::string, DataRange, std::less<>> out;
  Budget budget(flatbuffer);
  for (const auto* entry : items(root.named_data())) {
    TRY_DO(budget.take(entry->key()));
    const std::string key = text(entry->key());
    if (entry->segment() >= size(root.segments()))
      return invalid("key '", key, "' refers to segment ", entry->segment(), " of ", size(root.segments()));
    const auto* segment = root.segments()->Get(entry->segment());
    TRY(const DataRange range, subrange(header.segments, segment->offset(), segment->size(), str("key '", key, "'")));
    if (!out.emplace(key, range).second) return invalid("key '", key, "' appears twice");
  }
  return out;
}

}  // namespace pteron::format
