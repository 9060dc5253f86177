package io.exactlyonce.fingerprint;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Content that all messages of a key must have in common, for example their body. It is compared by its fingerprint.
 *
 * @param text the body, or the value of a {@code fingerprint} expression as text
 * @param isBody true for a body, and false for an expression's value. If a body is JSON or an SNS notification, it is
 *     compared by meaning, so white space and the order of fields do not matter. Any other text is compared character
 *     by character
 */
public record Content(String text, boolean isBody) {

    /** Fingerprinters that are free to be reused. If none is free, a new one is made. */
    private static final BlockingQueue<Fingerprinter> IDLE = new ArrayBlockingQueue<>(16);

    /** Returns the content of a message or a request whose body is compared. */
    public static Content ofBody(String body) {
        return new Content(body, true);
    }

    /** Returns content that is compared character by character. */
    public static Content ofValue(String value) {
        return new Content(value, false);
    }

    /** Returns the content's fingerprint: its SHA-256 as 64 hexadecimal digits. */
    public String fingerprint() {
        Fingerprinter idle = IDLE.poll();
        Fingerprinter fingerprinter = idle == null ? new Fingerprinter() : idle;
        String fingerprint = isBody ? fingerprinter.ofBody(text) : fingerprinter.ofValue(text);
        fingerprinter.clear();
        IDLE.offer(fingerprinter);
        return fingerprint;
    }

    /** Returns only the length. Applications may log this text, and the content may be secret. */
    @Override
    public String toString() {
        return text.length() + " characters";
    }
}
