package io.exactlyonce.window.watch;

import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.foresight.WindowWarning;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs warnings: one line when a breach is ahead, one when p95 is near the window, one beyond it, one on recovery. */
public final class WindowLog implements WindowObserver {

    private static final Logger log = LoggerFactory.getLogger(WindowLog.class);

    private final String consequence;

    /** @param isRenewed whether windows are renewed while handlers run */
    public WindowLog(boolean isRenewed) {
        consequence = isRenewed
                ? "renewal carries such deliveries, with less time to repeat one that fails"
                : "nothing renews it, so each delivery beyond it is handled twice";
    }

    @Override
    public void warned(Subscription subscription, WindowWarning warning) {
        String now = "p95 of recent deliveries is %.1f s, %.0f %% of the window of %d s; %.1f in 1,000 outlast it"
                .formatted(
                        warning.p95().toNanos() * 1e-9,
                        warning.utilization() * 100,
                        warning.window().toSeconds(),
                        warning.shareBeyond() * 1_000);
        switch (warning.kind()) {
            case BREACH_AHEAD ->
                log.warn(
                        "{}: deliveries will outlast their window{}: {}; {}. Raise the window, or look for what grows slower",
                        subscription,
                        warning.timeToBreach().map(WindowLog::in).orElse(" more and more often"),
                        now,
                        consequence);
            case NEAR ->
                log.warn(
                        "{}: deliveries come near their window: {}; {}. Raise the window, or look for what grows slower",
                        subscription,
                        now,
                        consequence);
            case BREACHED ->
                log.warn(
                        "{}: deliveries outlast their window: {}; {}. Raise the window",
                        subscription,
                        now,
                        consequence);
            case RECOVERED -> log.warn("{}: deliveries are well within their window again: {}", subscription, now);
        }
    }

    private static String in(Duration time) {
        return " in %d min at this rate".formatted(Math.max(1, time.toMinutes()));
    }
}
