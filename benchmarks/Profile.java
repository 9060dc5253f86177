import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/**
 * Prints, for each recording of Java Flight Recorder, the share of processor samples, of allocated bytes and of the JIT compiler's time that
 * each library has: {@code java benchmarks/Profile.java RECORDING.jfr...}. A sample belongs to the first library from the top of its stack, so
 * that what the JDK does for a library is the library's; a compilation belongs to the library of its method. Samples are of Java threads: the
 * compiler's and the collector's are not among them.
 */
class Profile {

    /** Packages, by the library's name. The first that fits counts. */
    private static final Map<String, List<String>> LIBRARIES = new LinkedHashMap<>();

    static {
        LIBRARIES.put("benchmark", List.of("io.exactlyonce.benchmarks"));
        LIBRARIES.put("ours", List.of("io.exactlyonce"));
        LIBRARIES.put("driver and pool", List.of("org.postgresql", "com.zaxxer.hikari"));
        LIBRARIES.put("Netty", List.of("io.netty"));
        LIBRARIES.put("AWS SDK", List.of("software.amazon"));
        LIBRARIES.put("Spring Cloud AWS", List.of("io.awspring"));
        LIBRARIES.put("Jackson", List.of("tools.jackson", "com.fasterxml.jackson"));
        LIBRARIES.put("Micrometer", List.of("io.micrometer"));
        LIBRARIES.put("Spring", List.of("org.springframework"));
        LIBRARIES.put("logging", List.of("ch.qos.logback", "org.slf4j"));
    }

    private static final String REST = "JDK alone and others";

    public static void main(String[] arguments) throws Exception {
        List<Path> recordings = new ArrayList<>();
        for (String argument : arguments) {
            Path path = Path.of(argument);
            if (Files.isDirectory(path)) {
                try (Stream<Path> inside = Files.list(path)) {
                    inside.filter(file -> file.toString().endsWith(".jfr")).sorted().forEach(recordings::add);
                }
            } else {
                recordings.add(path);
            }
        }
        if (recordings.isEmpty()) {
            throw new IllegalArgumentException("Name recordings (*.jfr), or directories that have some");
        }
        for (Path recording : recordings) {
            print(recording);
        }
    }

    private static void print(Path recording) throws Exception {
        Map<String, Double> samples = new TreeMap<>();
        Map<String, Double> bytes = new TreeMap<>();
        Map<String, Double> compiler = new TreeMap<>();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                    case "jdk.ExecutionSample" -> samples.merge(library(event), 1.0, Double::sum);
                    case "jdk.ObjectAllocationSample" -> bytes.merge(library(event), (double) event.getLong("weight"), Double::sum);
                    case "jdk.Compilation" ->
                        compiler.merge(
                                library(event.<RecordedMethod>getValue("method").getType().getName()),
                                event.getDuration().toNanos() / 1e6,
                                Double::sum);
                    default -> {}
                }
            }
        }
        System.out.printf("%n%s%n%n| | processor samples | %% | allocated, %% | compiled, ms |%n|---|---|---|---|---|%n", recording.getFileName());
        double allSamples = sum(samples);
        double allBytes = sum(bytes);
        Stream.concat(LIBRARIES.keySet().stream(), Stream.of(REST))
                .forEach(library -> System.out.printf(
                        "| %s | %,.0f | %.1f | %.1f | %,.0f |%n",
                        library,
                        samples.getOrDefault(library, 0.0),
                        100 * samples.getOrDefault(library, 0.0) / allSamples,
                        100 * bytes.getOrDefault(library, 0.0) / allBytes,
                        compiler.getOrDefault(library, 0.0)));
        System.out.printf("| all | %,.0f | 100 | 100 | %,.0f |%n", allSamples, sum(compiler));
    }

    private static double sum(Map<String, Double> values) {
        return values.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    private static String library(RecordedEvent event) {
        if (event.getStackTrace() != null) {
            for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                String library = library(frame.getMethod().getType().getName());
                if (!library.equals(REST)) {
                    return library;
                }
            }
        }
        return REST;
    }

    private static String library(String type) {
        return LIBRARIES.entrySet().stream()
                .filter(library -> library.getValue().stream().anyMatch(type::startsWith))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(REST);
    }
}
