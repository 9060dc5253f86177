package io.exactlyonce.chaos.dynamodb;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An HTTP request. The JDK's own server cannot be used, because it sets the {@code Date} of its answers itself.
 *
 * @param headers by name, in lower case
 */
@SuppressWarnings("ArrayRecordComponent") // The record is never compared, and the array has the bytes of the wire.
record WireRequest(Map<String, String> headers, byte[] body) {

    private static final String TARGET_PREFIX = "DynamoDB_20120810.";

    /** Returns the connection's next request; empty if the connection ended. */
    static Optional<WireRequest> read(InputStream in) throws IOException {
        String first = line(in);
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Map<String, String> headers = new TreeMap<>();
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            int colon = header.indexOf(':');
            headers.put(
                    header.substring(0, colon).toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("The worker left in the middle of a request");
        }
        return Optional.of(new WireRequest(headers, body));
    }

    /** Returns the name of the operation. */
    String operation() {
        return headers.getOrDefault("x-amz-target", "").replace(TARGET_PREFIX, "");
    }

    String contentType() {
        return headers.getOrDefault("content-type", "application/x-amz-json-1.0");
    }

    WireRequest with(byte[] otherBody) {
        return new WireRequest(headers, otherBody);
    }

    /** Returns a line without its end. At the end of the stream, returns an empty line. */
    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int read = in.read(); read >= 0 && read != '\n'; read = in.read()) {
            if (read != '\r') {
                line.write(read);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}
