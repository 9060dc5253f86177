package io.exactlyonce.window;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A course of latencies from a file: lines of {@code second,latency}, both in seconds and in order of time. A heading,
 * empty lines and lines that begin with {@code #} are skipped.
 */
final class LatencyFile {

    private LatencyFile() {}

    /**
     * Plays a file.
     *
     * @throws IllegalArgumentException with the line and the reason if a line cannot be parsed
     */
    static void play(Path file, Shape.Sink sink) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            double before = Double.NEGATIVE_INFINITY;
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                String text = line.strip();
                if (text.isEmpty() || text.startsWith("#") || number == 1 && isHeading(text)) {
                    continue;
                }
                before = accept(file + " line " + number + " (" + text + "): ", text.split(",", -1), before, sink);
            }
            if (before == Double.NEGATIVE_INFINITY) {
                throw new IllegalArgumentException(file + " has no delivery; write lines of second,latency");
            }
        }
    }

    private static boolean isHeading(String text) {
        return text.chars().anyMatch(Character::isLetter) && text.chars().noneMatch(Character::isDigit);
    }

    private static double accept(String where, String[] parts, double before, Shape.Sink sink) {
        double second = parts.length == 2 ? number(parts[0]) : Double.NaN;
        double latency = parts.length == 2 ? number(parts[1]) : Double.NaN;
        if (!Double.isFinite(second) || !Double.isFinite(latency) || latency < 0) {
            throw new IllegalArgumentException(
                    where + "write second,latency with decimal points, and a latency of 0 s or longer");
        }
        if (second < before) {
            throw new IllegalArgumentException(
                    where + "second must not be before the one above it (%s); sort the file by time".formatted(before));
        }
        sink.accept(second, latency);
        return second;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.strip());
        } catch (NumberFormatException none) {
            return Double.NaN;
        }
    }
}
