package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.VisibilityWindow;
import java.util.function.Supplier;

/**
 * What of a message is needed to observe it.
 *
 * @param key its key, made on the handler's thread before the handler may change the payload
 * @param payload what its fingerprint is made of; asked on another thread, for it may be long
 * @param lease of its claim, unless leases are configured
 */
public record ObservedMessage(ClaimKey key, Supplier<String> payload, VisibilityWindow lease) {}
