package io.exactlyonce.queue;

import java.time.Duration;

/** A gate that pauses polling when a test switches it. */
public final class ScriptedGate implements PollGate {

    private final String claimPath;
    private volatile boolean isPaused;

    public ScriptedGate(String claimPath) {
        this.claimPath = claimPath;
    }

    public void pause(boolean pause) {
        isPaused = pause;
    }

    @Override
    public String claimPath() {
        return claimPath;
    }

    @Override
    public void answered() {}

    @Override
    public void unanswered(Throwable why) {}

    @Override
    public boolean isPaused() {
        return isPaused;
    }

    @Override
    public boolean permitsPolling() {
        return !isPaused;
    }

    @Override
    public boolean awaitPolling(Duration longest) {
        return !isPaused;
    }
}
