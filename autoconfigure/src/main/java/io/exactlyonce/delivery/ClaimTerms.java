package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * On what terms this application claims keys.
 *
 * @param owner names this application's process in the claim table
 * @param lease how long a claim holds unless it is renewed; {@code null} for as long as the delivery's visibility window,
 *     so that a dead worker's key is free when its message comes again
 */
public record ClaimTerms(String owner, @Nullable Duration lease) {

    ClaimRequest request(ClaimKey key, VisibilityWindow window) {
        return new ClaimRequest(key, UUID.randomUUID(), owner, lease == null ? window.length() : lease);
    }
}
