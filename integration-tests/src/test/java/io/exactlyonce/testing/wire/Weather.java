package io.exactlyonce.testing.wire;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A network that delays requests and answers, and loses or repeats some of the requests that may be repeated. The SDK
 * sends a lost request again, so its callers see no failure.
 */
public final class Weather implements SqsBackend {

    /** The share of all requests. Four losses in a row would exceed the SDK's attempts. */
    private static final double LOST = 0.03;

    private static final double REPEATED = 0.1;

    private final SqsBackend server;
    private final int mostMillis;
    private final Random random;

    /**
     * @param mostMillis the longest delay of a request, and of an answer
     * @param seed the seed of delays, losses and repetitions
     */
    public Weather(SqsBackend server, int mostMillis, long seed) {
        this.server = server;
        this.mostMillis = mostMillis;
        this.random = new Random(seed);
    }

    @Override
    public SqsAnswer answer(SqsCall call) {
        delay();
        if (hits(LOST)) {
            return SqsAnswer.LOST;
        }
        SqsAnswer answer = server.answer(call);
        if (call.isDelete() || call.isChange()) {
            if (hits(REPEATED)) {
                answer = server.answer(call);
            }
            if (hits(LOST)) {
                answer = SqsAnswer.LOST;
            }
        }
        delay();
        return answer;
    }

    private boolean hits(double part) {
        return random.nextDouble() < part;
    }

    private void delay() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(mostMillis)));
    }
}
