package io.exactlyonce.fingerprint;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * The content that must be the same in all messages of a key.
 *
 * @param text the content as it was sent or evaluated
 * @param isBody whether JSON and SNS notifications are compared by their meaning. Otherwise the text is compared by its
 *     characters
 */
public record Content(String text, boolean isBody) {

    /** Fingerprinters that no caller uses. A caller takes one, or makes a new one if there is none. */
    private static final BlockingQueue<Fingerprinter> IDLE = new ArrayBlockingQueue<>(16);

    /** Returns the body of a message or a request. */
    public static Content ofBody(String body) {
        return new Content(body, true);
    }

    /** Returns a value that is compared by its characters. */
    public static Content ofValue(String value) {
        return new Content(value, false);
    }

    /** Returns 64 hexadecimal digits, which differ if the content differs. */
    public String fingerprint() {
        Fingerprinter idle = IDLE.poll();
        Fingerprinter fingerprinter = idle == null ? new Fingerprinter() : idle;
        String fingerprint = isBody ? fingerprinter.ofBody(text) : fingerprinter.ofValue(text);
        fingerprinter.clear();
        IDLE.offer(fingerprinter);
        return fingerprint;
    }

    /** Returns the length, and not the content, because applications may log what this method returns. */
    @Override
    public String toString() {
        return text.length() + " characters";
    }
}
