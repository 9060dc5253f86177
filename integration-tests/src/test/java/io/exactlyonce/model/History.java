package io.exactlyonce.model;

/**
 * The past of a key. Only the rules read this history; the protocol does not. Sets of attempts are bit sets.
 *
 * @param attempts how often the key was acquired
 * @param topToken the highest fencing token so far
 * @param told attempts whose handlers were informed of a doubt
 * @param effects attempts that had their effect
 * @param disturbed whether a crash, a pause, a stop or a lost renewal or release gives reason for doubt
 * @param runs how often an operator has let the key run again: each run may repeat its effect
 * @param done whether an operator has declared that the effect happened
 * @param threw how many attempts threw since an operator last let the key run again; only with LIMITED
 */
record History(
        int attempts, int topToken, int told, int effects, boolean disturbed, int runs, boolean done, int threw) {

    static final History NONE = new History(0, 0, 0, 0, false, 0, false, 0);

    History acquired(int token, boolean inDoubt) {
        int next = attempts + 1;
        return new History(
                next,
                Math.max(topToken, token),
                inDoubt ? told | 1 << next : told,
                effects,
                disturbed,
                runs,
                done,
                threw);
    }

    History effect(int attempt) {
        return new History(attempts, topToken, told, effects | 1 << attempt, disturbed, runs, done, threw);
    }

    /** Returns the history after a commit: the attempt gets its token and has its effect with its transaction. */
    History committed(int token, int attempt) {
        return new History(
                attempts, Math.max(topToken, token), told, effects | 1 << attempt, disturbed, runs, done, threw);
    }

    History disturb() {
        return new History(attempts, topToken, told, effects, true, runs, done, threw);
    }

    History failed() {
        return new History(attempts, topToken, told, effects, disturbed, runs, done, threw + 1);
    }

    History runAgain() {
        return new History(attempts, topToken, told, effects, disturbed, runs + 1, done, 0);
    }

    History calledDone() {
        return new History(attempts, topToken, told, effects, disturbed, runs, true, threw);
    }

    /** Returns whether the handlers of all attempts with an effect, except the earliest, were informed of the doubt. */
    boolean isEveryRepeatTold() {
        int later = effects & (effects - 1);
        return (later & ~told) == 0;
    }
}
