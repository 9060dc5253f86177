package io.exactlyonce.model;

import io.exactlyonce.model.Message.Place;
import io.exactlyonce.model.Row.Status;
import org.jspecify.annotations.Nullable;

/** The rules for every state and every step. */
final class Rules {

    static final String HOLDER_KEEPS_ITS_KEY = "no key is taken from a holder whose lease goes on by its own clock";
    static final String TOKENS_GROW = "each claim of a key has a higher fencing token than all before";
    static final String GIVEN_UP_STAYS_SO = "a claim that was given up never holds its key again";
    static final String HANDLER_BEGINS_UNDER_ITS_CLAIM = "a handler begins only while its claim holds the key";
    static final String ENSURE_HELD_PASSES_FOR_THE_HOLDER = "ensureHeld() passes only while the claim holds the key";
    static final String FENCED_EFFECT_COMMITS_FOR_THE_HOLDER =
            "a fenced effect commits only while its claim holds the key";
    static final String STALE_WRITES_CHANGE_NOTHING = "a stale worker writes nothing over its successor's claim";
    static final String MESSAGE_IS_ITS_NEWEST_RECEIVERS =
            "no worker shows or hides a message that another has received";
    static final String COMPLETED_STAYS = "a completed key stays completed";
    static final String COMPLETED_MEANS_DONE = "a completed key has had its effect";
    static final String DELETED_MEANS_COMPLETED = "a deleted message's key is completed";
    static final String REPEATS_ARE_TOLD = "a worker that repeats an effect was told that it might";
    static final String REPEATS_HAVE_A_REASON = "no effect is repeated without a crash, pause, stop or lost renewal";
    static final String DOUBT_HAS_A_REASON = "no key is in doubt without a crash, pause, stop or lost renewal";
    static final String PARK_REPEATS_NOTHING =
            "with PARK no effect is repeated but once for each release by an operator";
    static final String FAILURES_ARE_OF_ATTEMPTS_THAT_THREW =
            "a key has no more failures than attempts that threw since an operator released it";
    static final String NO_ATTEMPT_AFTER_THE_LAST =
            "no handler begins after maxAttempts attempts that threw, until an operator releases the key";
    static final String DECISION_STAYS = "what an operator releases is claimed before it is parked again";
    static final String OPERATOR_DECIDES_ON_WHAT_IT_SAW =
            "an operator decides only on the parked claim that it has seen";
    static final String OTHER_CONTENT_IS_NOT_DELETED =
            "a message is not deleted for a key that was completed for other content";
    static final String DATABASE_REPEATS_NOTHING = "with DATABASE no effect is repeated";
    static final String TRANSACTIONS_TAKE_TURNS = "no two transactions work on a key at once";
    static final String NONE_GIVEN_UP = "SQS gives no message up where nothing has failed";
    static final String IT_CAN_END = "without more faults each message can be deleted or given up by SQS";

    private Rules() {}

    /** Returns the rule that a step breaks, if any. */
    static @Nullable String broken(State before, Step step, Mode mode) {
        State after = step.next();
        if (step.breach() != null) {
            return step.breach();
        }
        if (before.row().status() == Status.COMPLETED && after.row().status() != Status.COMPLETED) {
            return COMPLETED_STAYS;
        }
        if (after.row().failures() > after.history().threw()) {
            return FAILURES_ARE_OF_ATTEMPTS_THAT_THREW;
        }
        String lost = lost(after);
        return lost == null ? repeated(after, mode) : lost;
    }

    private static @Nullable String lost(State state) {
        boolean completed = state.row().status() == Status.COMPLETED;
        boolean deleted =
                state.first().place() == Place.DELETED || state.second().place() == Place.DELETED;
        if (completed && state.history().effects() == 0 && !state.history().done()) {
            return COMPLETED_MEANS_DONE;
        }
        if (deleted && !completed) {
            return DELETED_MEANS_COMPLETED;
        }
        int content = state.row().content();
        return content != 0 && state.message(2 - content).place() == Place.DELETED
                ? OTHER_CONTENT_IS_NOT_DELETED
                : null;
    }

    private static @Nullable String repeated(State state, Mode mode) {
        History history = state.history();
        boolean doubt = history.told() != 0 || state.row().doubt();
        if (doubt && !history.disturbed()) {
            return DOUBT_HAS_A_REASON;
        }
        int effects = Integer.bitCount(history.effects());
        if (effects < 2) {
            return null;
        }
        if (mode == Mode.PARK && effects > 1 + history.runs()) {
            return PARK_REPEATS_NOTHING;
        }
        return switch (mode) {
            case DATABASE -> DATABASE_REPEATS_NOTHING;
            default -> {
                if (!history.disturbed()) {
                    yield REPEATS_HAVE_A_REASON;
                }
                yield history.isEveryRepeatTold() ? null : REPEATS_ARE_TOLD;
            }
        };
    }
}
