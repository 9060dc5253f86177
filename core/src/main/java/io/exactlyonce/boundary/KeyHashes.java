package io.exactlyonce.boundary;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The hashes that identify an idempotency key in logs and in downstream systems. */
public final class KeyHashes {

    private static final int SHORT = 16;

    private KeyHashes() {}

    /** Returns the SHA-256 of scope, NUL and key, as 64 hexadecimal digits. */
    public static String downstreamKey(String scope, String key) {
        return sha256(scope + '\0' + key);
    }

    /** Returns the first 16 digits of {@link #downstreamKey}. */
    public static String keyHash(String scope, String key) {
        return downstreamKey(scope, key).substring(0, SHORT);
    }

    /** Returns the SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
    public static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Every Java platform has SHA-256", impossible);
        }
    }
}
