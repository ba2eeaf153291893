/** Calls listeners of the host. An error of a listener is rethrown as uncaught; the caller continues. */
export function notifyListeners(listeners: () => void): void {
  try {
    listeners();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
