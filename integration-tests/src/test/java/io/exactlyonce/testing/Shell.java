package io.exactlyonce.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/** Runs commands of a document in bash, as a reader would who copies them, in a directory and with variables. */
public final class Shell {

    private static final long LONGEST_SECONDS = 60;

    private final Path directory;
    private final Map<String, String> variables;

    /** @param directory the directory in which commands read and write files */
    public Shell(Path directory, Map<String, String> variables) {
        this.directory = directory;
        this.variables = variables;
    }

    /**
     * Returns whether a program is installed. If it is not, a warning names the missing check.
     *
     * @param instead the test's replacement for the program
     */
    public static boolean has(String program, String debianPackage, String instead) {
        boolean isThere = SystemProgram.find(program).isPresent();
        if (!isThere) {
            LoggerFactory.getLogger(Shell.class)
                    .warn("{} is not installed (on Debian: apt-get install {}): {}", program, debianPackage, instead);
        }
        return isThere;
    }

    /** Runs commands, and returns their output. Fails if a command fails. */
    public String run(String commands) throws IOException, InterruptedException {
        Path output = Files.createTempFile("shell", ".out");
        Path errors = Files.createTempFile("shell", ".err");
        try {
            ProcessBuilder shell = new ProcessBuilder("bash", "-euo", "pipefail", "-c", commands)
                    .directory(directory.toFile())
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile());
            shell.environment().putAll(variables);
            Process process = shell.start();
            process.getOutputStream().close();
            boolean hasEnded = process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS);
            if (!hasEnded) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            String printed = Files.readString(output);
            if (!hasEnded || process.exitValue() != 0) {
                throw new AssertionError("%s%n%s: %s%s"
                        .formatted(
                                commands,
                                hasEnded ? "exit code " + process.exitValue() : "no end in time",
                                printed,
                                Files.readString(errors)));
            }
            return printed;
        } finally {
            Files.delete(output);
            Files.delete(errors);
        }
    }
}
