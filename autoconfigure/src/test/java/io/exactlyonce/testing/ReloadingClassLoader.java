package io.exactlyonce.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Loads this project's classes once more, with their static state; not those that tests share, such as servers. */
public final class ReloadingClassLoader extends ClassLoader {

    private static final String SHARED = ReloadingClassLoader.class.getPackageName() + ".";
    private static final String OURS = SHARED.substring(0, SHARED.indexOf('.', SHARED.indexOf('.') + 1) + 1);

    /** Makes one whose parent has all else. */
    public ReloadingClassLoader() {
        super(ReloadingClassLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.startsWith(SHARED)) {
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
