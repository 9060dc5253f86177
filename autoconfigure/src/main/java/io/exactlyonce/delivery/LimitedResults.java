package io.exactlyonce.delivery;

import java.nio.charset.StandardCharsets;

/** Writes results up to a size: each of them is copied by every later update of its claim's row. */
public final class LimitedResults implements ResultWriter {

    private final ResultWriter writer;
    private final long maxBytes;

    /**
     * @param writer writes results of any size
     * @param maxBytes largest result, in bytes of UTF-8
     */
    public LimitedResults(ResultWriter writer, long maxBytes) {
        this.writer = writer;
        this.maxBytes = maxBytes;
    }

    @Override
    public String toJson(Object result) {
        String json = writer.toJson(result);
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            throw new IllegalArgumentException(
                    ("The result (%d bytes of JSON) is larger than exactly-once.claim.max-result-size (%d bytes): return less,"
                                    + " for example an id, or raise the limit")
                            .formatted(bytes, maxBytes));
        }
        return json;
    }
}
