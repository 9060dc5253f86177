package io.exactlyonce.window;

import java.util.Random;

/**
 * The course of a listener's latency over virtual hours.
 *
 * @param name short description of the course
 * @param timeoutSeconds the visibility timeout in seconds
 * @param perSecond deliveries per second
 * @param hours the length in hours
 * @param course the latency over time
 */
record Shape(String name, double timeoutSeconds, double perSecond, double hours, Course course) {

    /** The latency at a time. */
    @FunctionalInterface
    interface Course {

        /** Returns the latency of a delivery in seconds; NaN if there is no delivery at that time. */
        double at(double second, Random random);
    }

    /** Receives deliveries in the order of their ends. */
    @FunctionalInterface
    interface Sink {
        void accept(double second, double latency);
    }

    /** Plays the same deliveries for the same seed. Deliveries arrive at random times, at the shape's rate. */
    void play(long seed, Sink sink) {
        Random random = new Random(seed);
        double end = hours * 3_600;
        for (double now = -Math.log1p(-random.nextDouble()) / perSecond;
                now < end;
                now -= Math.log1p(-random.nextDouble()) / perSecond) {
            double latency = course.at(now, random);
            if (!Double.isNaN(latency)) {
                sink.accept(now, latency);
            }
        }
    }

    /** Noise with a median of 1, whose logarithm has this standard deviation. */
    static double noise(double sigma, Random random) {
        return Math.exp(sigma * random.nextGaussian());
    }
}
