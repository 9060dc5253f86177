package io.exactlyonce.delivery;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/** Calls a store again while it does not answer. Every call of a store can be repeated as it is. */
public final class StoreCalls {

    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

    private StoreCalls() {}

    /**
     * Calls until there is an answer, the attempts are used up, or it is not wanted any more.
     *
     * @throws RuntimeException what the last call threw; {@link IllegalArgumentException} at once, since repeating the
     *     call cannot help
     */
    static <T> T untilAnswered(String what, Object keys, BackOff backOff, BooleanSupplier wanted, Supplier<T> call) {
        BackOffExecution pauses = backOff.start();
        while (true) {
            try {
                return call.get();
            } catch (IllegalArgumentException hopeless) {
                throw hopeless;
            } catch (RuntimeException failure) {
                long pause = pauses.nextBackOff();
                if (pause == BackOffExecution.STOP || !wanted.getAsBoolean() || !slept(pause)) {
                    throw failure;
                }
                log.warn("{} {} failed; trying again", what, keys, failure);
            }
        }
    }

    /**
     * As {@link #untilAnswered}, for what must not be given up because a handler has left its thread interrupted. The
     * interrupt is there again afterwards.
     */
    static <T> T untilAnsweredDespiteInterrupts(
            String what, Object keys, BackOff backOff, BooleanSupplier wanted, Supplier<T> call) {
        boolean interrupted = Thread.interrupted();
        try {
            return untilAnswered(what, keys, backOff, wanted, call);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns whether the time has passed; the thread may have been interrupted. */
    public static boolean slept(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
            return true;
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
