package io.exactlyonce.fingerprint;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Makes the SHA-256 of message content. Buffers are reused from one message to the next. Not thread-safe.
 *
 * <p>JSON is digested as its canonical text, so that documents with the same meaning have the same fingerprint. A byte
 * order mark at the beginning of a body is left out. If a body is not JSON, its last line break is left out, too.
 *
 * <p>For an SNS notification, a byte that occurs in no UTF-8 text is digested first. So a notification never has the
 * same fingerprint as other content.
 */
final class Fingerprinter {

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final MessageDigest digest = sha256();
    private final CanonicalJson json = new CanonicalJson();
    private final JsonReader reader = new JsonReader(json, SnsEnvelope.MESSAGE);
    private final Utf8Buffer characters = new Utf8Buffer();

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Every Java platform has SHA-256", impossible);
        }
    }

    /** Returns the fingerprint of an expression's value. Each character counts, even if the value is JSON. */
    String ofValue(String value) {
        addText(value, 0, value.length());
        return hex();
    }

    /** Returns the fingerprint of a body, which may be an SNS notification. */
    String ofBody(String body) {
        String document = withoutMark(body);
        boolean isJson = reader.read(document);
        if (isJson && SnsEnvelope.isOne(json)) {
            SnsEnvelope.addTo(digest, json);
            String published = withoutMark(reader.captured());
            add(published, reader.read(published));
        } else {
            add(document, isJson);
        }
        return hex();
    }

    private void add(String document, boolean isJson) {
        if (isJson) {
            json.addTo(digest);
        } else {
            addText(document);
        }
    }

    private static String withoutMark(String body) {
        return !body.isEmpty() && body.charAt(0) == BYTE_ORDER_MARK ? body.substring(1) : body;
    }

    /** Adds a text without its last line break. */
    private void addText(String text) {
        int to = text.length();
        if (to > 0 && text.charAt(to - 1) == '\n') {
            to--;
            if (to > 0 && text.charAt(to - 1) == '\r') {
                to--;
            }
        }
        addText(text, 0, to);
    }

    private void addText(String text, int from, int to) {
        characters.addText(text, from, to);
        digest.update(characters.bytes(), 0, characters.length());
    }

    private String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Forgets the content, and frees buffers that have become large. */
    void clear() {
        digest.reset();
        reader.clear();
        json.clear();
        characters.clear();
    }
}
