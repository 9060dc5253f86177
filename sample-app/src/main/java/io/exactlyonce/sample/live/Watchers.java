package io.exactlyonce.sample.live;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** The open pages. Each page gets a snapshot twice a second. Without an open page, no snapshot is taken. */
class Watchers {

    private static final Logger log = LoggerFactory.getLogger(Watchers.class);

    private static final long TICK_MILLIS = 500;
    private static final int POINTS_KEPT = 360;
    private static final long FOREVER = 0;
    private static final long PATIENCE_SECONDS = 5;

    private final LiveLab lab;
    private final List<SseEmitter> pages = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Point> points = new ArrayDeque<>();
    private final ScheduledExecutorService ticker = Executors.newSingleThreadScheduledExecutor();

    /** A point of the chart: p95 of both sides, as a fraction of the visibility timeout. */
    record Point(double second, double naive, double exactlyOnce) {}

    Watchers(LiveLab lab) {
        this.lab = lab;
        var unused = ticker.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Adds a page, and sends it the earlier points of the chart. */
    SseEmitter add() {
        SseEmitter page = new SseEmitter(FOREVER);
        page.onCompletion(() -> pages.remove(page));
        send(page, "history", history());
        pages.add(page);
        return page;
    }

    private void tick() {
        if (pages.isEmpty()) {
            return;
        }
        try {
            Snapshot snapshot = lab.look();
            remember(snapshot);
            pages.forEach(page -> send(page, "tick", snapshot));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (SQLException | RuntimeException e) {
            log.warn("The page misses a tick", e);
        }
    }

    private void remember(Snapshot snapshot) {
        double timeoutMillis = snapshot.windowSeconds() * 1e3;
        lock.lock();
        try {
            points.addLast(new Point(
                    snapshot.second(),
                    snapshot.naive().p95Millis() / timeoutMillis,
                    snapshot.exactlyOnce().p95Millis() / timeoutMillis));
            if (points.size() > POINTS_KEPT) {
                points.removeFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    private List<Point> history() {
        lock.lock();
        try {
            return List.copyOf(points);
        } finally {
            lock.unlock();
        }
    }

    private void send(SseEmitter page, String name, Object data) {
        try {
            page.send(SseEmitter.event().name(name).data(data, MediaType.APPLICATION_JSON));
        } catch (IOException | IllegalStateException closed) {
            pages.remove(page);
        }
    }

    /** Disconnects pages before their server stops, because the server would wait for them. */
    @EventListener(ContextClosedEvent.class)
    void end() throws InterruptedException {
        ticker.shutdown();
        if (!ticker.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            ticker.shutdownNow();
        }
        pages.forEach(SseEmitter::complete);
    }
}
