package io.exactlyonce.claim.coalescing;

/** Throws itself again where it is asked for the first time what it is, as for a log. */
final class UntoldException extends RuntimeException {

    private boolean asked;

    @Override
    public String toString() {
        if (!asked) {
            asked = true;
            throw this;
        }
        return super.toString();
    }
}
