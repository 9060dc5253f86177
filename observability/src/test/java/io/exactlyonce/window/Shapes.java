package io.exactlyonce.window;

import static io.exactlyonce.window.Shape.noise;

import io.exactlyonce.window.Shape.Course;
import java.util.List;
import java.util.function.DoublePredicate;

/**
 * Courses of latency that rise above the visibility timeout, slowly or suddenly, and steady loads that must never cause
 * a warning.
 */
final class Shapes {

    private static final double HOUR = 3_600;
    private static final double DAY = 24 * HOUR;

    private Shapes() {}

    /** Shapes whose latency rises gradually above the visibility timeout. */
    static final List<Shape> GRADUAL = List.of(
            shape("ramp over 20 minutes, window 30 s", 30, 2, 3, ramp(HOUR, HOUR + 1_200, 4, 24), 0.3),
            shape("ramp over 1 hour, window 10 s", 10, 5, 4, ramp(HOUR, 2 * HOUR, 1.5, 9), 0.3),
            shape("ramp over 6 hours, window 30 s", 30, 1, 10, ramp(HOUR, 7 * HOUR, 5, 24), 0.4),
            shape("ramp over 24 hours, window 300 s", 300, 0.5, 30, ramp(HOUR, 25 * HOUR, 40, 200), 0.5),
            shape("ramp over 3 days, window 60 s", 60, 0.2, 80, ramp(0, 3 * DAY, 10, 45), 0.4),
            new Shape("ramp without noise, window 30 s", 30, 1, 4, ramp(HOUR, 3 * HOUR, 6, 36)),
            shape("late ramp after 20 steady hours", 30, 1, 22, ramp(20 * HOUR, 21.5 * HOUR, 6, 30), 0.3),
            shape("doubling every 10 minutes", 30, 2, 3, doubling(600), 0.3),
            shape("doubling every hour", 30, 1, 8, doubling(HOUR), 0.5),
            shape("ramp with heavy noise (sigma 1)", 60, 5, 8, ramp(HOUR, 7 * HOUR, 2, 16), 1),
            shape("busy listener, 100/s, ramp over 40 minutes", 30, 100, 1.5, ramp(1_200, 3_600, 4, 24), 0.3),
            shape(
                    "slow partner takes ever longer (bimodal, 1 in 5)",
                    60,
                    1,
                    8,
                    sometimes(5, ramp(HOUR, 6 * HOUR, 15, 75), steady(5)),
                    0.2),
            shape(
                    "slow partner serves ever more (bimodal, share grows)",
                    60,
                    1,
                    8,
                    (t, r) -> r.nextDouble() < ramp(t, HOUR, 6 * HOUR, 0.002, 0.15) ? 90 : 8,
                    0.2),
            shape("daily wave on a ramp", 30, 0.5, 120, (t, r) -> wave(t, 0.25, DAY) * ramp(t, 0, 5 * DAY, 7, 24), 0.3),
            new Shape(
                    "growing tail, flat median", 60, 2, 10, (t, r) -> 5 * noise(ramp(t, HOUR, 9 * HOUR, 0.5, 1.8), r)),
            new Shape(
                    "ramp under rare giant outliers",
                    30,
                    1,
                    6,
                    sometimes(500, steady(600), noisy(ramp(HOUR, 5 * HOUR, 5, 28), 0.3))),
            shape(
                    "low traffic, 1 per minute, ramp over 8 hours",
                    60,
                    1 / 60.0,
                    14,
                    ramp(4 * HOUR, 12 * HOUR, 12, 60),
                    0.2),
            new Shape(
                    "pauses: half of each hour is silent",
                    30,
                    1,
                    12,
                    silent(t -> t % HOUR > HOUR / 2, noisy(ramp(2 * HOUR, 10 * HOUR, 5, 28), 0.3))),
            new Shape(
                    "silent night between two days of a ramp",
                    30,
                    1,
                    40,
                    silent(t -> t > 10 * HOUR && t < 26 * HOUR, noisy(ramp(0, 38 * HOUR, 6, 26), 0.3))),
            shape(
                    "deploys reset a leak, until one is late",
                    60,
                    1,
                    24,
                    (t, r) -> 6 + 4 * (t < 20 * HOUR ? t % (4 * HOUR) : t - 16 * HOUR) / HOUR * 1.4,
                    0.3),
            shape("each deploy is slower than the last", 60, 1, 24, stairs(6, 1.35, 2 * HOUR), 0.3),
            shape(
                    "pool runs dry: bends upward at last",
                    30,
                    2,
                    6,
                    (t, r) -> 5 / Math.max(0.15, 1 - since(t, HOUR) / (4.5 * HOUR)),
                    0.3),
            shape("window of 5 s, ramp over 15 minutes", 5, 5, 2, ramp(HOUR, HOUR + 900, 0.8, 4.5), 0.3),
            shape("stairs of 20 % every half hour", 30, 2, 10, stairs(4, 1.2, HOUR / 2), 0.25));

    /**
     * Shapes with drift that were not used to choose the constants of the rule. All deliveries become slower, so each
     * shape has a time of overrun.
     */
    static final List<Shape> FURTHER = List.of(
            shape("ramp over 45 minutes, window 20 s", 20, 3, 4, ramp(HOUR, 1.75 * HOUR, 5, 22), 0.3),
            shape("ramp over 90 minutes, 10/s, window 15 s", 15, 10, 4, ramp(HOUR, 2.5 * HOUR, 3, 16), 0.4),
            shape("ramp over 2 hours, sigma 0.5", 30, 2, 6, ramp(HOUR, 3 * HOUR, 4, 26), 0.5),
            shape("ramp over 4 hours, window 120 s", 120, 0.3, 10, ramp(HOUR, 5 * HOUR, 30, 130), 0.3),
            shape(
                    "ramp over 5 hours, 2 per minute, window 90 s",
                    90,
                    1 / 30.0,
                    12,
                    ramp(2 * HOUR, 7 * HOUR, 20, 90),
                    0.25),
            shape("ramp over 12 hours, window 60 s", 60, 1, 20, ramp(2 * HOUR, 14 * HOUR, 10, 60), 0.35),
            shape(
                    "hourly wave on a ramp over 5 hours",
                    30,
                    1,
                    8,
                    (t, r) -> ramp(t, HOUR, 6 * HOUR, 7, 30) * wave(t, 0.1, HOUR),
                    0.3),
            shape(
                    "doubling every 30 minutes",
                    30,
                    2,
                    5,
                    (t, r) -> 3 * doubling(HOUR / 2).at(t, r),
                    0.3),
            shape(
                    "grows by the square of time, window 60 s",
                    60,
                    2,
                    8,
                    (t, r) -> 8 + 2.5 * StrictMath.pow(since(t, HOUR) / HOUR, 2),
                    0.3),
            shape(
                    "queue in front of a partner near saturation",
                    30,
                    3,
                    6,
                    (t, r) -> 4 / Math.max(0.1, 1 - since(t, HOUR) / (3 * HOUR)),
                    0.35));

    /** Shapes whose latency jumps above the visibility timeout, so that no warning can come earlier. */
    static final List<Shape> JUMPS = List.of(
            shape("step from 30 % to 150 % of the window", 30, 1, 4, step(2 * HOUR, 7, 38), 0.15),
            shape("step, 10 deliveries per minute", 30, 1 / 6.0, 4, step(2 * HOUR, 7, 40), 0.1),
            shape(
                    "step of one in four (partner down)",
                    60,
                    2,
                    4,
                    (t, r) -> t > 2 * HOUR && r.nextInt(4) == 0 ? 100 : 8,
                    0.2),
            shape("step at 100/s, window 10 s", 10, 100, 1, step(1_800, 2, 15), 0.2));

    /** Steady loads of thirty days each, whose p95 stays below 80 % of the visibility timeout. */
    static final List<Shape> STEADY = List.of(
            shape("70 % of the window, sigma 0.3", 30, 0.2, 720, steady(12.8), 0.3),
            shape("50 %, heavy noise (sigma 0.8)", 60, 0.2, 720, steady(8), 0.8),
            new Shape(
                    "30 %, one stray in 100 of up to ten windows",
                    30, 0.2, 720, sometimes(100, (t, r) -> 30 + 270 * r.nextDouble(), noisy(steady(5.5), 0.3))),
            shape("two modes, 1 in 4 takes 60 %", 60, 0.2, 720, sometimes(4, steady(30), steady(6)), 0.15),
            shape(
                    "a daily wave between 30 % and 60 %",
                    30, 0.2, 720, (t, r) -> 8.2 + 2.7 * StrictMath.sin(2 * Math.PI * t / DAY), 0.3),
            new Shape(
                    "1 per minute, 50 %, one stray in 300",
                    30, 1 / 60.0, 720, sometimes(300, steady(100), noisy(steady(9.2), 0.3))));

    private static Shape shape(
            String name, double timeoutSeconds, double perSecond, double hours, Course course, double sigma) {
        return new Shape(name, timeoutSeconds, perSecond, hours, noisy(course, sigma));
    }

    private static Course noisy(Course course, double sigma) {
        return (t, r) -> course.at(t, r) * noise(sigma, r);
    }

    private static Course steady(double latency) {
        return (t, r) -> latency;
    }

    private static Course ramp(double from, double to, double low, double high) {
        return (t, r) -> ramp(t, from, to, low, high);
    }

    private static double ramp(double now, double from, double to, double low, double high) {
        return now <= from ? low : low + (high - low) * (now - from) / (to - from);
    }

    private static Course step(double when, double before, double after) {
        return (t, r) -> t < when ? before : after;
    }

    /** Starts at 1 s after an hour, and doubles in each period of the given length. */
    private static Course doubling(double seconds) {
        return (t, r) -> StrictMath.pow(2, since(t, HOUR) / seconds);
    }

    private static Course stairs(double low, double factor, double seconds) {
        return (t, r) -> low * StrictMath.pow(factor, StrictMath.floor(t / seconds));
    }

    /** One in {@code oneIn} deliveries has the latency of {@code another}. */
    private static Course sometimes(int oneIn, Course another, Course otherwise) {
        return (t, r) -> (r.nextInt(oneIn) == 0 ? another : otherwise).at(t, r);
    }

    private static Course silent(DoublePredicate when, Course otherwise) {
        return (t, r) -> when.test(t) ? Double.NaN : otherwise.at(t, r);
    }

    private static double wave(double now, double height, double length) {
        return 1 + height * StrictMath.sin(2 * Math.PI * now / length);
    }

    private static double since(double now, double from) {
        return Math.max(0, now - from);
    }
}
