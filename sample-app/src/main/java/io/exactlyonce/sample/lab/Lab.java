package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.sql.SQLException;

/**
 * Replays the incident of the 847 orders, with time scaled down, on real servers and real processes: the same orders go
 * to the incident's worker and to one that uses this library, and one worker of each is killed in mid-handler.
 */
public final class Lab {

    private final LabSettings settings;
    private final Console console;
    private final JavaCommand java;

    /**
     * Prepares a run.
     *
     * @param mainClass what starts a worker, if its first argument is {@code worker}
     */
    public Lab(LabSettings settings, Console console, Class<?> mainClass) {
        this.settings = settings;
        this.console = console;
        this.java = JavaCommand.ofThisJvm(mainClass);
    }

    /**
     * Runs the experiment. Leaves neither processes nor files behind, also if the JVM is told to stop; only the logs of a
     * run that failed stay. If the JVM is killed with SIGKILL, workers and servers end by themselves, but files stay.
     */
    public Verdict run() throws IOException, InterruptedException, SQLException {
        // First of all, since it says where this process logs.
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
            // Then the hook does its work, and closing twice does nothing.
        }
    }
}
