package io.exactlyonce.servers;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The form in which PostgreSQL stores a password, with one iteration instead of 4,096. Iterations slow down guessing a
 * password. They are useless for a random password of 128 bits, and cost each connection 12 ms in a young JVM.
 */
final class ScramVerifier {

    private static final int ITERATIONS = 1;
    private static final int FIRST_BLOCK = 1;

    private ScramVerifier() {}

    /** Returns the verifier of RFC 5803. */
    static String of(String password, byte[] salt) {
        byte[] block = ByteBuffer.allocate(salt.length + Integer.BYTES)
                .put(salt)
                .putInt(FIRST_BLOCK)
                .array();
        try {
            byte[] salted = hmac(password.getBytes(StandardCharsets.UTF_8), block);
            byte[] storedKey = MessageDigest.getInstance("SHA-256").digest(hmac(salted, bytes("Client Key")));
            byte[] serverKey = hmac(salted, bytes("Server Key"));
            Base64.Encoder base64 = Base64.getEncoder();
            return "SCRAM-SHA-256$%s:%s$%s:%s"
                    .formatted(
                            ITERATIONS,
                            base64.encodeToString(salt),
                            base64.encodeToString(storedKey),
                            base64.encodeToString(serverKey));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] hmac(byte[] key, byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
