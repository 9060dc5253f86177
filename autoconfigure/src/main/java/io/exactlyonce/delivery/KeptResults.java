package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Results to be kept of work that is done: one that cannot be written must not leave its claim open. */
public final class KeptResults {

    private static final Logger log = LoggerFactory.getLogger(KeptResults.class);

    private final ResultWriter writer;

    public KeptResults(ResultWriter writer) {
        this.writer = writer;
    }

    /** Returns the result as JSON; {@code null} if it cannot be written, for whatever reason. */
    public @Nullable String json(ClaimKey key, Object result) {
        try {
            return writer.toJson(result);
        } catch (Throwable unwritable) {
            log.warn("The result for {} cannot be kept as JSON; completing without it", key, unwritable);
            return null;
        }
    }
}
