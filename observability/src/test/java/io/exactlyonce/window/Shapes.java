package io.exactlyonce.window;

import static io.exactlyonce.window.Shape.noise;

import java.util.List;

/** What happens to listeners: courses that end beyond the window, slowly or at once, and loads that never should warn. */
final class Shapes {

    private static final double HOUR = 3_600;
    private static final double DAY = 24 * HOUR;

    private Shapes() {}

    /** Latency does not leap over the window in one step. Drift comes in all of them but the giant outliers. */
    static final List<Shape> GRADUAL = List.of(
            new Shape(
                    "ramp over 20 minutes, window 30 s",
                    30,
                    2,
                    3,
                    (t, r) -> ramp(t, HOUR, HOUR + 1_200, 4, 24) * noise(0.3, r)),
            new Shape(
                    "ramp over 1 hour, window 10 s",
                    10,
                    5,
                    4,
                    (t, r) -> ramp(t, HOUR, 2 * HOUR, 1.5, 9) * noise(0.3, r)),
            new Shape(
                    "ramp over 6 hours, window 30 s",
                    30,
                    1,
                    10,
                    (t, r) -> ramp(t, HOUR, 7 * HOUR, 5, 24) * noise(0.4, r)),
            new Shape(
                    "ramp over 24 hours, window 300 s",
                    300,
                    0.5,
                    30,
                    (t, r) -> ramp(t, HOUR, 25 * HOUR, 40, 200) * noise(0.5, r)),
            new Shape(
                    "ramp over 3 days, window 60 s",
                    60,
                    0.2,
                    80,
                    (t, r) -> ramp(t, 0, 3 * DAY, 10, 45) * noise(0.4, r)),
            new Shape("ramp without noise, window 30 s", 30, 1, 4, (t, r) -> ramp(t, HOUR, 3 * HOUR, 6, 36)),
            new Shape(
                    "late ramp after 20 steady hours",
                    30,
                    1,
                    22,
                    (t, r) -> ramp(t, 20 * HOUR, 21.5 * HOUR, 6, 30) * noise(0.3, r)),
            new Shape(
                    "doubling every 10 minutes",
                    30,
                    2,
                    3,
                    (t, r) -> StrictMath.pow(2, Math.max(0, t - HOUR) / 600) * noise(0.3, r)),
            new Shape(
                    "doubling every hour",
                    30,
                    1,
                    8,
                    (t, r) -> StrictMath.pow(2, Math.max(0, t - HOUR) / HOUR) * noise(0.5, r)),
            new Shape(
                    "ramp with heavy noise (sigma 1)",
                    60,
                    5,
                    8,
                    (t, r) -> ramp(t, HOUR, 7 * HOUR, 2, 16) * noise(1, r)),
            new Shape(
                    "busy listener, 100/s, ramp over 40 minutes",
                    30,
                    100,
                    1.5,
                    (t, r) -> ramp(t, 1_200, 3_600, 4, 24) * noise(0.3, r)),
            new Shape(
                    "slow partner takes ever longer (bimodal, 1 in 5)",
                    60,
                    1,
                    8,
                    (t, r) -> (r.nextInt(5) == 0 ? ramp(t, HOUR, 6 * HOUR, 15, 75) : 5) * noise(0.2, r)),
            new Shape(
                    "slow partner serves ever more (bimodal, share grows)",
                    60,
                    1,
                    8,
                    (t, r) -> (r.nextDouble() < ramp(t, HOUR, 6 * HOUR, 0.002, 0.15) ? 90 : 8) * noise(0.2, r)),
            new Shape(
                    "daily wave on a ramp",
                    30,
                    0.5,
                    120,
                    (t, r) -> (1 + 0.25 * StrictMath.sin(2 * Math.PI * t / DAY))
                            * ramp(t, 0, 5 * DAY, 7, 24)
                            * noise(0.3, r)),
            new Shape(
                    "growing tail, flat median", 60, 2, 10, (t, r) -> 5 * noise(ramp(t, HOUR, 9 * HOUR, 0.5, 1.8), r)),
            new Shape(
                    "ramp under rare giant outliers",
                    30,
                    1,
                    6,
                    (t, r) -> r.nextInt(500) == 0 ? 600 : ramp(t, HOUR, 5 * HOUR, 5, 28) * noise(0.3, r)),
            new Shape(
                    "low traffic, 1 per minute, ramp over 8 hours",
                    60,
                    1 / 60.0,
                    14,
                    (t, r) -> ramp(t, 4 * HOUR, 12 * HOUR, 12, 60) * noise(0.2, r)),
            new Shape(
                    "pauses: half of each hour is silent",
                    30,
                    1,
                    12,
                    (t, r) -> t % HOUR > HOUR / 2 ? Double.NaN : ramp(t, 2 * HOUR, 10 * HOUR, 5, 28) * noise(0.3, r)),
            new Shape(
                    "silent night between two days of a ramp",
                    30,
                    1,
                    40,
                    (t, r) ->
                            t > 10 * HOUR && t < 26 * HOUR ? Double.NaN : ramp(t, 0, 38 * HOUR, 6, 26) * noise(0.3, r)),
            new Shape(
                    "deploys reset a leak, until one is late",
                    60,
                    1,
                    24,
                    (t, r) -> (6 + 4 * (t < 20 * HOUR ? t % (4 * HOUR) : t - 16 * HOUR) / HOUR * 1.4) * noise(0.3, r)),
            new Shape(
                    "each deploy is slower than the last",
                    60,
                    1,
                    24,
                    (t, r) -> 6 * StrictMath.pow(1.35, StrictMath.floor(t / (2 * HOUR))) * noise(0.3, r)),
            new Shape(
                    "pool runs dry: bends upward at last",
                    30,
                    2,
                    6,
                    (t, r) -> 5 / Math.max(0.15, 1 - Math.max(0, t - HOUR) / (4.5 * HOUR)) * noise(0.3, r)),
            new Shape(
                    "window of 5 s, ramp over 15 minutes",
                    5,
                    5,
                    2,
                    (t, r) -> ramp(t, HOUR, HOUR + 900, 0.8, 4.5) * noise(0.3, r)),
            new Shape(
                    "stairs of 20 % every half hour",
                    30, 2, 10, (t, r) -> 4 * StrictMath.pow(1.2, StrictMath.floor(t / (HOUR / 2))) * noise(0.25, r)));

    /** Drift that none of the advisor's constants were chosen by. All deliveries become slower, so a time can be told in each. */
    static final List<Shape> FURTHER = List.of(
            new Shape(
                    "ramp over 45 minutes, window 20 s",
                    20,
                    3,
                    4,
                    (t, r) -> ramp(t, HOUR, 1.75 * HOUR, 5, 22) * noise(0.3, r)),
            new Shape(
                    "ramp over 90 minutes, 10/s, window 15 s",
                    15,
                    10,
                    4,
                    (t, r) -> ramp(t, HOUR, 2.5 * HOUR, 3, 16) * noise(0.4, r)),
            new Shape(
                    "ramp over 2 hours, sigma 0.5", 30, 2, 6, (t, r) -> ramp(t, HOUR, 3 * HOUR, 4, 26) * noise(0.5, r)),
            new Shape(
                    "ramp over 4 hours, window 120 s",
                    120,
                    0.3,
                    10,
                    (t, r) -> ramp(t, HOUR, 5 * HOUR, 30, 130) * noise(0.3, r)),
            new Shape(
                    "ramp over 5 hours, 2 per minute, window 90 s",
                    90,
                    1 / 30.0,
                    12,
                    (t, r) -> ramp(t, 2 * HOUR, 7 * HOUR, 20, 90) * noise(0.25, r)),
            new Shape(
                    "ramp over 12 hours, window 60 s",
                    60,
                    1,
                    20,
                    (t, r) -> ramp(t, 2 * HOUR, 14 * HOUR, 10, 60) * noise(0.35, r)),
            new Shape(
                    "hourly wave on a ramp over 5 hours",
                    30,
                    1,
                    8,
                    (t, r) -> ramp(t, HOUR, 6 * HOUR, 7, 30)
                            * (1 + 0.1 * StrictMath.sin(2 * Math.PI * t / HOUR))
                            * noise(0.3, r)),
            new Shape(
                    "doubling every 30 minutes",
                    30,
                    2,
                    5,
                    (t, r) -> 3 * StrictMath.pow(2, Math.max(0, t - HOUR) / (HOUR / 2)) * noise(0.3, r)),
            new Shape(
                    "grows by the square of time, window 60 s",
                    60,
                    2,
                    8,
                    (t, r) -> (8 + 2.5 * StrictMath.pow(Math.max(0, t - HOUR) / HOUR, 2)) * noise(0.3, r)),
            new Shape(
                    "queue in front of a partner near saturation",
                    30,
                    3,
                    6,
                    (t, r) -> 4 / Math.max(0.1, 1 - Math.max(0, t - HOUR) / (3 * HOUR)) * noise(0.35, r)));

    /** Nothing announces these. */
    static final List<Shape> JUMPS = List.of(
            new Shape(
                    "step from 30 % to 150 % of the window",
                    30, 1, 4, (t, r) -> (t < 2 * HOUR ? 7 : 38) * noise(0.15, r)),
            new Shape(
                    "step, 10 deliveries per minute",
                    30,
                    1 / 6.0,
                    4,
                    (t, r) -> (t < 2 * HOUR ? 7 : 40) * noise(0.1, r)),
            new Shape(
                    "step of one in four (partner down)",
                    60,
                    2,
                    4,
                    (t, r) -> (t > 2 * HOUR && r.nextInt(4) == 0 ? 100 : 8) * noise(0.2, r)),
            new Shape("step at 100/s, window 10 s", 10, 100, 1, (t, r) -> (t < 1_800 ? 2 : 15) * noise(0.2, r)));

    /** Thirty days each, and p95 stays where it is. */
    static final List<Shape> STEADY = List.of(
            new Shape("70 % of the window, sigma 0.3", 30, 0.2, 720, (t, r) -> 12.8 * noise(0.3, r)),
            new Shape("50 %, heavy noise (sigma 0.8)", 60, 0.2, 720, (t, r) -> 8 * noise(0.8, r)),
            new Shape(
                    "30 %, one stray in 100 of up to ten windows",
                    30, 0.2, 720, (t, r) -> r.nextInt(100) == 0 ? 30 + 270 * r.nextDouble() : 5.5 * noise(0.3, r)),
            new Shape(
                    "two modes, 1 in 4 takes 60 %",
                    60, 0.2, 720, (t, r) -> (r.nextInt(4) == 0 ? 30 : 6) * noise(0.15, r)),
            new Shape(
                    "a daily wave between 30 % and 60 %",
                    30, 0.2, 720, (t, r) -> (8.2 + 2.7 * StrictMath.sin(2 * Math.PI * t / DAY)) * noise(0.3, r)),
            new Shape(
                    "1 per minute, 50 %, one stray in 300",
                    30, 1 / 60.0, 720, (t, r) -> r.nextInt(300) == 0 ? 100 : 9.2 * noise(0.3, r)));

    private static double ramp(double now, double from, double to, double low, double high) {
        return now <= from ? low : low + (high - low) * (now - from) / (to - from);
    }
}
