package io.exactlyonce.chaos.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How to start one of this program's classes in another JVM, with this one's class path.
 *
 * @param temporary where the JVM puts temporary files, which one that is killed leaves behind
 */
public record JavaProgram(Path temporary) {

    /** Returns the whole command. */
    public List<String> command(Class<?> main, String heap, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                heap,
                // Workers are many and short-lived: no time is spent on the best machine code.
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(arguments);
        return command;
    }
}
