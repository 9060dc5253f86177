package io.exactlyonce.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Loads classes again, with static state of their own. */
public final class ReloadingClassLoader extends ClassLoader {

    private static final String SHARED = ReloadingClassLoader.class.getPackageName() + ".";
    private static final String OURS = SHARED.substring(0, SHARED.indexOf('.', SHARED.indexOf('.') + 1) + 1);

    private final String prefix;

    /**
     * Loads this project's classes again, except those that tests share, such as servers. The parent loads all other
     * classes.
     */
    public ReloadingClassLoader() {
        this(OURS);
    }

    /**
     * Makes a loader of one class and its nested classes, as a developer's restart loads an application's classes. The
     * parent loads all other classes.
     */
    public ReloadingClassLoader(Class<?> application) {
        this(application.getName());
    }

    private ReloadingClassLoader(String prefix) {
        super(ReloadingClassLoader.class.getClassLoader());
        this.prefix = prefix;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(prefix) || name.startsWith(SHARED)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
