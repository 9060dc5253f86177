package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * A worker's {@code /actuator/prometheus}.
 *
 * @param lines all lines without comments
 */
public record Metrics(List<String> lines) {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String OURS = "exactly_once_";
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** Reads the metrics of a worker. */
    public static Metrics scrape(int port) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:%d/actuator/prometheus".formatted(port));
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
        return parse(HTTP.send(request, BodyHandlers.ofString()).body());
    }

    /** Parses a response. */
    public static Metrics parse(String body) {
        return new Metrics(body.lines().filter(line -> !line.startsWith("#")).toList());
    }

    /**
     * Returns the values of a meter, one for each combination of labels.
     *
     * @param labels labels that a line must have, such as {@code outcome="acquired"}
     */
    public DoubleStream values(String meter, String... labels) {
        return lines.stream()
                .filter(line -> line.startsWith(meter + "{") || line.startsWith(meter + " "))
                .filter(line -> Stream.of(labels).allMatch(line::contains))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .mapToDouble(value -> value.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value));
    }

    /** Returns the lines that show how near the visibility timeout is, and the outcomes of claims and renewals. */
    List<String> excerpt() {
        return lines.stream()
                .filter(line -> line.startsWith(OURS))
                .filter(line -> !line.contains("quantile=\"") || line.contains("quantile=\"0.95\""))
                .filter(line -> !line.matches("\\w+_(sum|max|bucket)\\{.*"))
                .toList();
    }
}
