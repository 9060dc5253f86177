package io.exactlyonce.delivery;

import io.exactlyonce.StoredResultException;
import io.exactlyonce.claim.ClaimKey;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Results that are stored with their keys, up to a size: each of them is copied by every later update of its claim's row.
 * A result of work that is done never costs its completion.
 *
 * @param serializer writes and reads results of any size
 * @param maxBytes largest result, in bytes of UTF-8
 */
public record StoredResults(ResultSerializer serializer, long maxBytes) {

    private static final Logger log = LoggerFactory.getLogger(StoredResults.class);

    /**
     * Half a surrogate pair, which a sender's JSON may contain, and NUL, which raw values may. Stores reject both; JSON
     * can escape them in ASCII.
     */
    private static final Pattern UNSTORABLE = Pattern.compile("[\\p{Cs}\\x00]");

    /**
     * Returns a result as JSON.
     *
     * @throws RuntimeException if it cannot be written, or is too large
     */
    public String write(Object result) {
        String json = UNSTORABLE
                .matcher(serializer.toJson(result))
                .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            throw new IllegalArgumentException(
                    ("The result (%d bytes of JSON) is larger than exactly-once.claim.max-result-size (%d bytes): return less,"
                                    + " for example an id, or raise the limit")
                            .formatted(bytes, maxBytes));
        }
        return json;
    }

    /** Returns the result of work that is done as JSON; {@code null} if it cannot be written: its claim must not stay open. */
    public @Nullable String writeIfPossible(ClaimKey key, Object result) {
        try {
            return write(result);
        } catch (Throwable unwritable) {
            log.warn("The result for {} cannot be kept as JSON; completing without it", key, unwritable);
            return null;
        }
    }

    /**
     * Returns a stored result as the type that the caller requests.
     *
     * @throws StoredResultException if there is none, or none of this type
     */
    @SuppressWarnings("unchecked") // A primitive's class has the type of its wrapper.
    public <T> @Nullable T read(ClaimKey key, @Nullable String json, Class<T> type) {
        if (type == Void.class || type == void.class) {
            return null;
        }
        if (json == null) {
            throw unreadable(
                    key,
                    "no result was kept with it: it was too large, or could not be written (see the log of that time)",
                    null);
        }
        try {
            return ((Class<T>) ClassUtils.resolvePrimitiveIfNecessary(type)).cast(serializer.fromJson(json, type));
        } catch (RuntimeException unfit) {
            throw unreadable(
                    key,
                    "its stored result does not fit %s; ask for the type that the key was completed with"
                            .formatted(type.getName()),
                    unfit);
        }
    }

    private static StoredResultException unreadable(ClaimKey key, String problem, @Nullable Throwable cause) {
        return new StoredResultException(key.scope(), key.hash(), problem, cause);
    }
}
