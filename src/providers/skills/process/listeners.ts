/** Does what calls listeners of the host. What one of them throws is an error of the program; whoever tells goes on. */
export function notifyListeners(listeners: () => void): void {
  try {
    listeners();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
