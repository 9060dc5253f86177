package io.exactlyonce.delivery;

import io.exactlyonce.StoredResultException;
import io.exactlyonce.claim.ClaimKey;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Stored results as what their next caller wants them to be. */
public final class ReplayedResults {

    private final ResultReader reader;

    public ReplayedResults(ResultReader reader) {
        this.reader = reader;
    }

    /**
     * Returns a stored result.
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
            return ((Class<T>) ClassUtils.resolvePrimitiveIfNecessary(type)).cast(reader.fromJson(json, type));
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
