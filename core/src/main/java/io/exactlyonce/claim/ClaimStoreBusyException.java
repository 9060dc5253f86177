package io.exactlyonce.claim;

/** Thrown if a call never reached the store: it had no effect, and can be repeated. */
public final class ClaimStoreBusyException extends RuntimeException {

    public ClaimStoreBusyException(String message) {
        super(message);
    }
}
