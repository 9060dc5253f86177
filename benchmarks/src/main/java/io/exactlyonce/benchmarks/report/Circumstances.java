package io.exactlyonce.benchmarks.report;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The version, the time and the machine of a run. */
public final class Circumstances {

    private static final long GIB = 1L << 30;

    /** The value for unknown facts. */
    private static final String UNKNOWN = "unknown";

    private Circumstances() {}

    /** Returns the facts by name, in the report's order. */
    public static Map<String, String> of(Clock clock, String postgresVersion) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Path program = program();
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("commit", commit(program));
        facts.put("built", built(program));
        facts.put("date", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
        facts.put("options", options());
        facts.put("cores", String.valueOf(system.getAvailableProcessors()));
        facts.put("memory", "%.1f GiB".formatted(system.getTotalMemorySize() / (double) GIB));
        facts.put("jdk", System.getProperty("java.vm.name") + " " + Runtime.version());
        facts.put("postgresql", postgresVersion);
        facts.put("kernel", system.getName() + " " + system.getVersion());
        return facts;
    }

    private static Path program() {
        return Path.of(System.getProperty("java.class.path").split(File.pathSeparator, -1)[0])
                .toAbsolutePath();
    }

    /**
     * Returns the commit of the checkout that contains the program. If the build is older than the checkout, its time
     * shows that.
     */
    private static String commit(Path program) {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
                    .directory(Objects.requireNonNullElse(program.getParent(), program)
                            .toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return git.waitFor() == 0 && !commit.isEmpty() ? commit : UNKNOWN;
        } catch (IOException noGit) {
            return UNKNOWN;
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return UNKNOWN;
        }
    }

    /** Returns when the file system last wrote the file. Reproducible builds set another date within the file. */
    private static String built(Path program) {
        try {
            FileTime written = (FileTime) Files.getAttribute(program, "unix:ctime");
            return written.toInstant().truncatedTo(ChronoUnit.SECONDS).toString();
        } catch (IOException | IllegalArgumentException | UnsupportedOperationException unknown) {
            return UNKNOWN;
        }
    }

    private static String options() {
        String options = new TreeMap<>(System.getProperties())
                .entrySet().stream()
                        .filter(option -> option.getKey().toString().startsWith("bench."))
                        .map(option -> ("-D" + option.getKey() + "=" + option.getValue()).replaceFirst("=$", ""))
                        .collect(Collectors.joining(" "));
        return options.isEmpty() ? "none" : options;
    }
}
