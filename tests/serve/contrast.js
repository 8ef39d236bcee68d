// Words that do not stand out from what is behind them: contrast below 4.5 to 1.
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const paint = (...layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of layers) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const shine = (rgb) => {
    const [r, g, b] = rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const bad = [];
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    if (!words.currentNode.data.trim() || !element.checkVisibility() || element.closest('.hidden, .skip, option')) continue;
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.unshift(getComputedStyle(e).backgroundColor);
    const under = paint(...layers), ink = paint(...layers, getComputedStyle(element).color);
    const [low, high] = [shine(under), shine(ink)].sort((a, b) => a - b);
    const ratio = (high + .05) / (low + .05);
    if (ratio < 4.5) bad.push([element.className, words.currentNode.data.slice(0, 30), ratio.toFixed(2)]);
  }
  return bad.slice(0, 10);
})()
