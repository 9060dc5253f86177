package io.exactlyonce.claim;

/** A call that never reached the store: nothing of what it asked for has happened, and it can be made again. */
public final class ClaimStoreBusyException extends RuntimeException {

    public ClaimStoreBusyException(String message) {
        super(message);
    }
}
