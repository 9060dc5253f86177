package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fleet.Slot;
import io.exactlyonce.chaos.queue.Stream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Operators that decide on parked keys, at all workers at the same time. They also redrive messages from the
 * dead-letter queues.
 */
final class Operators {

    private static final Logger log = LoggerFactory.getLogger(Operators.class);
    private static final long PAUSE_MILLIS = 5_000;
    private static final long LOOK_MILLIS = 250;

    private final ChaosEnvironment environment;
    private final Thread rounds = new Thread(this::work, "operators");

    private Operators(ChaosEnvironment environment) {
        this.environment = environment;
    }

    /** Starts the operators' rounds. */
    static Operators begin(ChaosEnvironment environment) {
        Operators operators = new Operators(environment);
        operators.rounds.setDaemon(true);
        operators.rounds.start();
        return operators;
    }

    private void work() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                decide();
                redrive();
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    private void decide() throws InterruptedException {
        List<Thread> deciding = new ArrayList<>();
        for (Slot slot : environment.targets().fleet().slots()) {
            Thread thread = new Thread(() -> decide(slot), "operator");
            thread.setDaemon(true);
            thread.start();
            deciding.add(thread);
        }
        for (Thread thread : deciding) {
            thread.join();
        }
    }

    private static void decide(Slot slot) {
        try {
            slot.decide();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Redrives messages. If SQS is frozen, the messages are seen again in the next round. */
    private int redrive() {
        try {
            return environment.queues().redrive(Stream.PARCELS);
        } catch (SdkException away) {
            log.info("Dead letters were not redriven: {}", away.getMessage());
            return 0;
        }
    }

    /**
     * Ends the rounds when no more faults happen, and decides on all remaining parked keys.
     *
     * @return whether all keys were decided in time
     */
    boolean finish(Duration patience) throws InterruptedException {
        rounds.interrupt();
        rounds.join();
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < patience.toNanos()) {
            decide();
            if (redrive() == 0 && environment.queues().size() == 0 && isDecided()) {
                return true;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        return false;
    }

    private boolean isDecided() {
        return environment.targets().claims().claims().stream()
                .noneMatch(claim -> claim.status().equals("PARKED")
                        && claim.key().startsWith(Stream.PARCELS.queue())
                        && !claim.reason().contains("HopelessException"));
    }
}
