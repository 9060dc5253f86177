package io.exactlyonce.sample;

import java.time.Duration;
import java.util.Timer;
import java.util.TimerTask;

/** Ends the JVM, including its clean-up, if a run hangs at a place without a deadline. */
final class Watchdog {

    private Watchdog() {}

    static void start(Duration patience, int exitCode) {
        TimerTask end = new TimerTask() {
            @Override
            public void run() {
                System.out.println("FAILED: the lab did not end within %d s".formatted(patience.toSeconds()));
                System.exit(exitCode);
            }
        };
        new Timer("lab-watchdog", true).schedule(end, patience.toMillis());
    }
}
