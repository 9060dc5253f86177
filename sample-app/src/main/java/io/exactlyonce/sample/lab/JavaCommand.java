package io.exactlyonce.sample.lab;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A command that starts this program again in another JVM: from the same jar file, or from the same class path in an
 * IDE or test.
 *
 * @param java the launcher
 * @param program the launcher's arguments for this program, without the program's own arguments
 */
public record JavaCommand(String java, List<String> program) {

    /**
     * Options for JVMs that are many and run for a short time: a small heap, and no time spent on the best machine
     * code.
     */
    private static final List<String> JVM_OPTIONS =
            List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

    /**
     * Returns the command that starts this program again.
     *
     * @param mainClass the class whose main method accepts {@code worker}
     */
    public static JavaCommand ofThisJvm(Class<?> mainClass) {
        return of(System.getProperty("java.home"), System.getProperty("java.class.path"), mainClass.getName());
    }

    static JavaCommand of(String javaHome, String classPath, String mainClass) {
        return new JavaCommand(
                Path.of(javaHome, "bin", "java").toString(),
                isOneJar(classPath) ? List.of("-jar", classPath) : List.of("-cp", classPath, mainClass));
    }

    /**
     * Returns the whole command.
     *
     * @param temporary the directory for temporary files that a killed JVM leaves behind
     */
    List<String> with(Path temporary, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(java);
        command.addAll(JVM_OPTIONS);
        command.add("-Djava.io.tmpdir=" + temporary);
        command.addAll(program);
        command.addAll(arguments);
        return command;
    }

    private static boolean isOneJar(String classPath) {
        return classPath.endsWith(".jar") && !classPath.contains(System.getProperty("path.separator"));
    }
}
