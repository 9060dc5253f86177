package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.sql.SQLException;

/**
 * Replays the incident of the 847 orders on real servers and real processes, in a shorter time. The same orders go to
 * the incident's worker and to a worker with this library. One worker of each side is killed in the middle of a
 * handler.
 */
public final class Lab {

    private final LabSettings settings;
    private final Console console;
    private final JavaCommand java;

    /**
     * Prepares a run.
     *
     * @param mainClass the class that starts a worker if its first argument is {@code worker}
     */
    public Lab(LabSettings settings, Console console, Class<?> mainClass) {
        this.settings = settings;
        this.console = console;
        this.java = JavaCommand.ofThisJvm(mainClass);
    }

    /**
     * Runs the experiment. Leaves no processes or files behind, even if the JVM receives a signal to stop. Only the
     * logs of a failed run stay. If the JVM is killed with SIGKILL, workers and servers end by themselves, but files
     * stay.
     */
    public Verdict run() throws IOException, InterruptedException, SQLException {
        // The workspace is first, because it sets where this process logs.
        Workspace workspace = Workspace.create();
        Cleanup cleanup = new Cleanup();
        Thread atExit = new Thread(cleanup::close, "lab-cleanup");
        Runtime.getRuntime().addShutdownHook(atExit);
        try (cleanup) {
            cleanup.add(workspace);
            return run(workspace, cleanup);
        } finally {
            forget(atExit);
        }
    }

    private Verdict run(Workspace workspace, Cleanup cleanup) throws IOException, InterruptedException, SQLException {
        boolean good = false;
        try {
            Verdict verdict = new Experiment(settings, console, java, cleanup).run(workspace);
            good = verdict.exitCode() == 0;
            return verdict;
        } finally {
            if (!good && !cleanup.isClosed()) {
                workspace.keepLogs();
                console.line("Logs of this run: " + workspace.logs());
            }
        }
    }

    private static void forget(Thread atExit) {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException jvmIsStopping) {
            // The shutdown hook then stops everything, and closing twice does nothing.
        }
    }
}
