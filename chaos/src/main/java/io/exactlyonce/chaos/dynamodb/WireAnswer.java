package io.exactlyonce.chaos.dynamodb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * An HTTP answer.
 *
 * @param date the Date header, left out if blank
 */
@SuppressWarnings("ArrayRecordComponent") // The record is never compared, and the array has the bytes of the wire.
record WireAnswer(int status, String contentType, String date, byte[] body) {

    WireAnswer with(byte[] otherBody) {
        return new WireAnswer(status, contentType, date, otherBody);
    }

    WireAnswer dated(String otherDate) {
        return new WireAnswer(status, contentType, otherDate, body);
    }

    void write(OutputStream out) throws IOException {
        String head = "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
                .formatted(status, contentType, body.length);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
        if (!date.isBlank()) {
            all.writeBytes("Date: %s\r\n".formatted(date).getBytes(StandardCharsets.ISO_8859_1));
        }
        all.writeBytes("\r\n".getBytes(StandardCharsets.ISO_8859_1));
        all.writeBytes(body);
        out.write(all.toByteArray());
        out.flush();
    }
}
